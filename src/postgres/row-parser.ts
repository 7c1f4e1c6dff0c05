import { isAscii } from 'node:buffer';

import { Parser } from 'pg-protocol/dist/parser.js';

interface Message {
  readonly name: string;
}

interface DataRow extends Message {
  length: number;
  readonly fields: (string | null)[];
}

/** The part of `pg`'s parser that its types hide. */
interface PacketParser {
  parse(chunk: Buffer, callback: (message: Message) => void): void;
  /** `bytes` has the whole message; its fields begin at `offset`. */
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message;
}

const PgParser = Parser as unknown as new () => PacketParser;

/** 'D' */
const dataRowCode = 0x44;
/** Of a message's length, which counts itself, and of a field's. */
const lengthBytes = 4;
/** How much is decoded at once. A text of 13 characters or more keeps as much alive: what is cached must be a copy. */
const windowBytes = 1024;
const nonAscii = /[\u0080-\u00ff]/;

/**
 * `pg`'s parser, which decodes rows together: each text by itself is a call out of JavaScript. All rows are one
 * message: its fields are to be taken before the next row is parsed, as `pg` does.
 */
class RowParser extends PgParser {
  readonly #row: DataRow = { name: 'dataRow', length: 0, fields: [] };
  /** The bytes of the chunk from `#start` on, one character for each. */
  #window = '';
  #start = 0;
  /** Of all of them. Lengths count: that of a null, or of 128 bytes and more, isn't ASCII. */
  #isAscii = true;

  override parse(chunk: Buffer, callback: (message: Message) => void): void {
    this.#window = '';
    this.#start = 0;
    super.parse(chunk, callback);
  }

  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message {
    if (code !== dataRowCode) return super.handlePacket(offset, code, length, bytes);
    const end = offset + length - lengthBytes;
    if (end > this.#start + this.#window.length) {
      const window = bytes.subarray(offset, Math.max(end, offset + windowBytes));
      this.#window = window.toString('latin1');
      this.#start = offset;
      this.#isAscii = isAscii(window);
    }
    const { fields } = this.#row;
    const count = bytes.readInt16BE(offset);
    if (fields.length > count) fields.length = count;
    let at = offset + 2;
    for (let index = 0; index < count; index += 1) {
      const size = bytes.readInt32BE(at);
      at += lengthBytes;
      const text = size === -1 ? null : this.#window.slice(at - this.#start, at - this.#start + size);
      const isPlain = text === null || this.#isAscii || !nonAscii.test(text);
      fields[index] = isPlain ? text : bytes.toString('utf8', at, at + size);
      at += Math.max(0, size);
    }
    this.#row.length = length;
    return this.#row;
  }
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
