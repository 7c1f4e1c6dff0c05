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

/** Execute, of all rows. */
const execute = 'E\0\0\0\u0009\0\0\0\0\0';

/** After an error PostgreSQL skips everything up to it. */
export const syncMessage = 'S\0\0\0\u0004';

const nullLength = '\u00ff\u00ff\u00ff\u00ff';
const nonAscii = /[^\0-\u007f]/;

/** Parse, which prepares a statement under a name. */
export function parseMessage(name: string, text: string): string {
  // No types of parameters: the text has casts.
  const parse = `${bytesOf(name)}\0${bytesOf(text)}\0\0\0`;
  return `P${int32(4 + parse.length)}${parse}`;
}

/**
 * Bind and Execute for a prepared statement, as a text with one character for each byte: texts are joined and written
 * faster than buffers.
 *
 * All values are text, and so is the result ("Message Formats" in PostgreSQL's manual).
 */
export function bindAndExecuteMessage(name: string, values: readonly Parameter[]): string {
  let parameters = '';
  for (const value of values) {
    const text = toText(value);
    if (text === null) {
      parameters += nullLength;
    } else {
      const bytes = bytesOf(text);
      parameters += int32(bytes.length) + bytes;
    }
  }
  // An unnamed portal, the name, no formats of parameters, the parameters, no formats of results.
  const bind = `\0${bytesOf(name)}\0\0\0${int16(values.length)}${parameters}\0\0`;
  return `B${int32(4 + bind.length)}${bind}${execute}`;
}

/** In UTF-8. */
function bytesOf(text: string): string {
  return nonAscii.test(text) ? Buffer.from(text).toString('latin1') : text;
}

function int32(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}

function int16(value: number): string {
  return String.fromCharCode((value >>> 8) & 0xff, value & 0xff);
}
