import { Parser } from 'pg-protocol/dist/parser.js';

/** The part of `pg`'s parser that its types hide. */
interface PacketParser {
  parse(chunk: Buffer, callback: (message: Message) => void): void;
  /** `bytes` has the whole message; its fields begin at `offset`. */
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message;
}

export interface Message {
  readonly name: string;
}

const PgParser = Parser as unknown as new () => PacketParser;

/** 'D' */
const dataRowCode = 0x44;
const nonAscii = /[\u0080-\u00ff]/;

interface DataRow extends Message {
  length: number;
  readonly fields: (string | null)[];
}

/**
 * `pg`'s parser, which decodes the fields of a row together: one by one, each of them is a call out of JavaScript, and most are short.
 *
 * It gives the same message for each row, with the fields of that row: take them before the next one is parsed, as `pg` itself does.
 */
class RowParser extends PgParser {
  readonly #row: DataRow = { name: 'dataRow', length: 0, fields: [] };

  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message {
    if (code !== dataRowCode) return super.handlePacket(offset, code, length, bytes);
    this.#row.length = length;
    readFields(this.#row.fields, bytes, offset, length);
    return this.#row;
  }
}

function readFields(fields: (string | null)[], bytes: Buffer, start: number, length: number): void {
  const row = bytes.toString('latin1', start, start + length);
  const isAscii = !nonAscii.test(row);
  const count = bytes.readInt16BE(start);
  // Setting the length leaves JavaScript, even when it stays the same.
  if (fields.length !== count) fields.length = count;
  let at = start + 2;
  for (let index = 0; index < count; index += 1) {
    const size = bytes.readInt32BE(at);
    at += 4;
    if (size === -1) {
      fields[index] = null;
      continue;
    }
    const text = row.slice(at - start, at - start + size);
    fields[index] = isAscii || !nonAscii.test(text) ? text : bytes.toString('utf8', at, at + size);
    at += size;
  }
}

/** The part of `pg`'s connection that receives messages; its types omit it. */
export interface MessageReceiver {
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(event: string, message: Message): boolean;
}

/** Lets the connection, which isn't open yet, read with this parser. Rows, of which there are most, are not emitted, but go to `onRow`. */
export function parseRowsOf(connection: MessageReceiver, onRow: (row: Message) => void): void {
  const receive = (message: Message): void => {
    const { name } = message;
    if (name === 'dataRow') onRow(message);
    else connection.emit(name === 'error' ? 'errorMessage' : name, message);
  };
  connection.attachListeners = (stream) => {
    const parser = new RowParser();
    stream.on('data', (chunk: Buffer) => parser.parse(chunk, receive));
  };
}
