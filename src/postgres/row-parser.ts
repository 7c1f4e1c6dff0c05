import { isAscii } from 'node:buffer';

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
/** 'C' */
const commandCompleteCode = 0x43;
/** 'Z' */
const readyForQueryCode = 0x5a;

/** A message's length counts itself. */
const lengthBytes = 4;

/** How much is decoded at once. A value of 13 characters or more keeps as much alive: what is cached must be a copy. */
const windowBytes = 1024;

interface DataRow extends Message {
  length: number;
  readonly fields: (string | null)[];
}

interface CommandComplete extends Message {
  readonly length: number;
  /** What was executed, and the number of rows: `SELECT 20`. */
  readonly text: string;
}

interface ReadyForQuery extends Message {
  readonly length: number;
  /** Of the transaction: I, T or E. */
  readonly status: string;
}

/**
 * `pg`'s parser, which decodes short texts together: one by one, each of them is a call out of JavaScript.
 *
 * It gives the same message for each row, with the fields of that row: take them before the next one is parsed, as `pg`
 * itself does.
 */
class RowParser extends PgParser {
  readonly #row: DataRow = { name: 'dataRow', length: 0, fields: [] };
  /** The bytes from `#start` on, one character for each. */
  #window = '';
  #start = 0;
  /** Whether all of them are ASCII. Lengths count: that of a null, or of 128 bytes and more, isn't. */
  #isAscii = true;

  override parse(chunk: Buffer, callback: (message: Message) => void): void {
    // The offsets of the last chunk mean nothing in this one.
    this.#window = '';
    this.#start = 0;
    super.parse(chunk, callback);
  }

  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message {
    switch (code) {
      case dataRowCode:
        return this.#readRow(offset, length, bytes);
      case commandCompleteCode:
        return this.#readCommandComplete(offset, length, bytes);
      case readyForQueryCode:
        return readReadyForQuery(offset, length, bytes);
      default:
        return super.handlePacket(offset, code, length, bytes);
    }
  }

  #readRow(start: number, length: number, bytes: Buffer): DataRow {
    const end = start + length - lengthBytes;
    this.#moveWindow(start, end, bytes);
    const window = this.#window;
    const windowStart = this.#start;
    const isAsciiRow = this.#isAscii || isAscii(bytes.subarray(start, end));
    const { fields } = this.#row;
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
      const from = at - windowStart;
      const text = window.slice(from, from + size);
      fields[index] = isAsciiRow || !nonAscii.test(text) ? text : bytes.toString('utf8', at, at + size);
      at += size;
    }
    this.#row.length = length;
    return this.#row;
  }

  #readCommandComplete(start: number, length: number, bytes: Buffer): CommandComplete {
    // The text ends with a zero.
    const end = start + length - lengthBytes - 1;
    this.#moveWindow(start, end, bytes);
    return { name: 'commandComplete', length, text: this.#window.slice(start - this.#start, end - this.#start) };
  }

  /** Makes the window contain these bytes. */
  #moveWindow(start: number, end: number, bytes: Buffer): void {
    if (end <= this.#start + this.#window.length) return;
    this.#window = bytes.toString('latin1', start, Math.max(end, start + windowBytes));
    this.#start = start;
    this.#isAscii = isAscii(bytes.subarray(start, start + this.#window.length));
  }
}

function readReadyForQuery(start: number, length: number, bytes: Buffer): ReadyForQuery {
  return { name: 'readyForQuery', length, status: String.fromCharCode(bytes[start] as number) };
}

const nonAscii = /[\u0080-\u00ff]/;

/** The part of `pg`'s connection that receives messages; its types omit it. */
export interface MessageReceiver {
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(event: string, message: Message): boolean;
}

/**
 * Lets the connection, which isn't open yet, read with this parser. Rows, of which there are most, are not emitted, but
 * go to `onRow`.
 */
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
