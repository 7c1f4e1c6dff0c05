export type Scalar = string | number | boolean | null;

/** A parameter of a statement. */
export type Parameter = Scalar | readonly Scalar[];

const integers = /^-?\d+(?:,-?\d+)*$/;

/** The parameter as PostgreSQL reads it. */
export function toText(value: Parameter): string | null {
  if (value === null) return null;
  return typeof value === 'object' ? arrayText(value) : String(value);
}

/** Most values are ids, which need no quotes. */
function arrayText(values: readonly Scalar[]): string {
  const text = values.join(',');
  return `{${integers.test(text) ? text : values.map(quote).join(',')}}`;
}

function quote(value: Scalar): string {
  if (value === null) return 'NULL';
  return `"${String(value).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
