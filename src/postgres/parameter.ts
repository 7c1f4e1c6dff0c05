export type Scalar = string | number | boolean | null;

/** A parameter of a statement. */
export type Parameter = Scalar | readonly Scalar[];

const integer = /^-?\d+$/;
/** Besides quotes and backslashes. */
const escapedByJson = /[^\u0020-\ud7ff\ue000-\uffff]/;

/** The parameter as PostgreSQL reads it. */
export function toText(value: Parameter): string | null {
  if (value === null) return null;
  return typeof value === 'object' ? arrayText(value) : String(value);
}

function arrayText(values: readonly Scalar[]): string {
  return `{${values.map(elementText).join(',')}}`;
}

/**
 * Most elements are ids, which need no quotes. Others have the quotes and backslashes of JSON, which V8 writes five
 * times as fast; what JSON would escape besides stays as it is.
 */
function elementText(value: Scalar): string {
  if (value === null) return 'NULL';
  const text = String(value);
  if (integer.test(text)) return text;
  return escapedByJson.test(text) ? `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"` : JSON.stringify(text);
}
