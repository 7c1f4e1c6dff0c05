import { toText, type Parameter } from './parameter.ts';

/** Execute, of all rows, and Sync. */
const executeAndSync = Buffer.from('E\0\0\0\u0009\0\0\0\0\0S\0\0\0\u0004', 'latin1');

/**
 * Bind, Execute and Sync for a prepared statement in one buffer: each buffer is prepared for a system call by itself.
 *
 * All values are text, and so is the result ("Message Formats" in PostgreSQL's manual).
 */
export function executionMessage(name: string, values: readonly Parameter[]): Buffer {
  const texts = values.map(toText);
  const sizes = texts.map((text) => (text === null ? 0 : Buffer.byteLength(text)));
  const nameSize = Buffer.byteLength(name);
  // Its own length, an unnamed portal, the name with its end, three counts, and four bytes of length for each value.
  const bindSize = sizes.reduce((sum, size) => sum + 4 + size, 4 + 1 + nameSize + 1 + 3 * 2);
  const message = Buffer.allocUnsafe(1 + bindSize + executeAndSync.length);
  message.write('B', 0, 'latin1');
  let at = message.writeInt32BE(bindSize, 1);
  at = message.writeUInt8(0, at);
  at += message.write(name, at);
  at = message.writeUInt8(0, at);
  at = message.writeInt16BE(0, at);
  at = message.writeInt16BE(texts.length, at);
  for (const [index, text] of texts.entries()) {
    at = message.writeInt32BE(text === null ? -1 : (sizes[index] as number), at);
    if (text !== null) at += message.write(text, at);
  }
  at = message.writeInt16BE(0, at);
  executeAndSync.copy(message, at);
  return message;
}
