export type Scalar = string | number | boolean | null;

/** A parameter of a statement. */
export type Parameter = Scalar | readonly Scalar[];

const integer = /^-?\d+$/;

/** The parameter as PostgreSQL reads it. */
export function toText(value: Parameter): string | null {
  if (value === null) return null;
  return typeof value === 'object' ? arrayText(value) : String(value);
}

function arrayText(values: readonly Scalar[]): string {
  return `{${values.map(elementText).join(',')}}`;
}

/** Most elements are ids, which need no quotes. */
function elementText(value: Scalar): string {
  if (value === null) return 'NULL';
  const text = String(value);
  return integer.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
