import { toText, type Parameter } from './parameter.ts';

/** Execute, of all rows, and Sync. */
const executeAndSync = 'E\0\0\0\u0009\0\0\0\0\0S\0\0\0\u0004';

const nullLength = '\u00ff\u00ff\u00ff\u00ff';
const nonAscii = /[^\0-\u007f]/;

/**
 * Bind, Execute and Sync for a prepared statement, as a text with one character for each byte: texts are joined and written faster than buffers.
 *
 * All values are text, and so is the result ("Message Formats" in PostgreSQL's manual).
 */
export function executionMessage(name: string, values: readonly Parameter[]): string {
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
  return `B${int32(4 + bind.length)}${bind}${executeAndSync}`;
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
