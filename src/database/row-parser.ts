import { Parser } from 'pg-protocol/dist/parser.js';

/** The part of `pg`'s parser that its types hide. */
interface PacketParser {
  parse(chunk: Buffer, callback: (message: Message) => void): void;
  /** `bytes` has the whole message; its fields begin at `offset`. */
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message;
}

interface Message {
  readonly name: string;
}

const PgParser = Parser as unknown as new () => PacketParser;

/** 'D' */
const dataRowCode = 0x44;
const nonAscii = /[\u0080-\u00ff]/;

/** `pg`'s parser, which decodes the fields of a row together: one by one, each of them is a call out of JavaScript, and most are short. */
class RowParser extends PgParser {
  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message {
    if (code !== dataRowCode) return super.handlePacket(offset, code, length, bytes);
    return { name: 'dataRow', length, fields: fieldsOf(bytes, offset, length) } as Message;
  }
}

function fieldsOf(bytes: Buffer, start: number, length: number): (string | null)[] {
  const row = bytes.toString('latin1', start, start + length);
  const isAscii = !nonAscii.test(row);
  const fields: (string | null)[] = [];
  let at = start + 2;
  for (let left = bytes.readInt16BE(start); left > 0; left -= 1) {
    const size = bytes.readInt32BE(at);
    at += 4;
    if (size === -1) {
      fields.push(null);
      continue;
    }
    const text = row.slice(at - start, at - start + size);
    fields.push(isAscii || !nonAscii.test(text) ? text : bytes.toString('utf8', at, at + size));
    at += size;
  }
  return fields;
}

/** The part of `pg`'s connection that receives messages; its types omit it. */
export interface MessageReceiver {
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(event: string, message: Message): boolean;
}

/** Lets the connection, which isn't open yet, read with this parser. */
export function parseRowsOf(connection: MessageReceiver): void {
  const receive = (message: Message): void => {
    connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message);
  };
  connection.attachListeners = (stream) => {
    const parser = new RowParser();
    stream.on('data', (chunk: Buffer) => parser.parse(chunk, receive));
  };
}
