import { isAscii } from 'node:buffer';

import { BufferReader } from 'pg-protocol/dist/buffer-reader.js';
import { Parser } from 'pg-protocol/dist/parser.js';

import { DamagedMessage } from './connection-failure.ts';

interface Message {
  readonly name: string;
}

interface DataRow extends Message {
  length: number;
  readonly fields: (string | null)[];
}

/** The part of `pg`'s reader of a message that its types hide. */
interface PacketReader {
  readonly offset: number;
  /** Also called, with an empty buffer, when the message has been read. */
  setBuffer(offset: number, buffer: Buffer): void;
  string(length: number): string;
}

/** The part of `pg`'s parser that its types hide. */
interface PacketParser {
  /** The beginning of a message that isn't complete. */
  readonly buffer: Buffer;
  readonly bufferOffset: number;
  readonly bufferLength: number;
  reader: PacketReader;
  parse(chunk: Buffer, callback: (message: Message) => void): void;
  /** `bytes` has the whole message; its fields begin at `offset`. */
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message;
}

const PgReader = BufferReader as unknown as new () => PacketReader;
const PgParser = Parser as unknown as new () => PacketParser;

/** Of the messages that a server may send to this client, which copies nothing and suspends no portal. */
const knownCodes = new Set(Buffer.from('123ACDEIKNRSTZnt'));
const dataRowCode = 0x44;
/** Of a message's code. */
const codeBytes = 1;
/** Of a message's length, which counts itself, and of a field's. */
const lengthBytes = 4;
/** More than any row: a damaged length would keep everything that comes after it in memory. */
const maxMessageBytes = 16 * 1024 * 1024;
/** How much is decoded at once. A text of 13 characters or more keeps as much alive: what is cached must be a copy. */
const windowBytes = 1024;
const nonAscii = /[\u0080-\u00ff]/;

/** Throws for a message that is not as long as what it holds, before it is handed on. */
class MessageReader extends PgReader {
  /** Of the message. */
  end = 0;

  /** `pg` reads an error field by field until the last one, and would never end behind its bytes. */
  override string(length: number): string {
    if (this.offset + length > this.end) throw new DamagedMessage('it is shorter than what it holds');
    return super.string(length);
  }

  override setBuffer(offset: number, buffer: Buffer): void {
    if (buffer.length === 0 && this.offset !== this.end) throw new DamagedMessage('it is not as long as what it holds');
    super.setBuffer(offset, buffer);
  }
}

/**
 * `pg`'s parser, which decodes rows together: each text by itself is a call out of JavaScript. All rows are one
 * message: its fields are to be taken before the next row is parsed, as `pg` does.
 *
 * Throws for a message that isn't what its length says, or that no server sends to this client.
 */
class RowParser extends PgParser {
  readonly #reader = new MessageReader();
  readonly #row: DataRow = { name: 'dataRow', length: 0, fields: [] };
  /** The bytes of the chunk from `#start` on, one character for each. */
  #window = '';
  #start = 0;
  /** Of all of them. Lengths count: that of a null, or of 128 bytes and more, isn't ASCII. */
  #isAscii = true;

  constructor() {
    super();
    this.reader = this.#reader;
  }

  override parse(chunk: Buffer, callback: (message: Message) => void): void {
    this.#window = '';
    this.#start = 0;
    super.parse(chunk, callback);
    const { buffer, bufferOffset, bufferLength } = this;
    if (bufferLength < codeBytes + lengthBytes) return;
    if (buffer.readUInt32BE(bufferOffset + codeBytes) > maxMessageBytes) throw new DamagedMessage('it is too long');
  }

  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message {
    const end = offset + length - lengthBytes;
    if (end < offset || !knownCodes.has(code)) throw new DamagedMessage('no server sends it');
    if (code === dataRowCode) return this.#readRow(offset, end, bytes);
    this.#reader.end = end;
    return super.handlePacket(offset, code, length, bytes);
  }

  #readRow(offset: number, end: number, bytes: Buffer): Message {
    if (end > this.#start + this.#window.length) {
      const window = bytes.subarray(offset, Math.max(end, offset + windowBytes));
      this.#window = window.toString('latin1');
      this.#start = offset;
      this.#isAscii = isAscii(window);
    }
    const { fields } = this.#row;
    const count = end - offset < 2 ? -1 : bytes.readInt16BE(offset);
    if (count < 0) throw new DamagedMessage('it is a row without columns');
    if (fields.length > count) fields.length = count;
    let at = offset + 2;
    for (let index = 0; index < count; index += 1) {
      const size = at + lengthBytes > end ? end : bytes.readInt32BE(at);
      at += lengthBytes;
      if (size < -1 || at + size > end) throw new DamagedMessage('it is shorter than what it holds');
      const text = size === -1 ? null : this.#window.slice(at - this.#start, at - this.#start + size);
      const isPlain = text === null || this.#isAscii || !nonAscii.test(text);
      fields[index] = isPlain ? text : bytes.toString('utf8', at, at + size);
      at += Math.max(0, size);
    }
    if (at !== end) throw new DamagedMessage('it is longer than what it holds');
    this.#row.length = end - offset + lengthBytes;
    return this.#row;
  }
}

/** The part of `pg`'s connection that receives messages; its types omit it. */
export interface MessageReceiver {
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(event: string, message: Message): boolean;
}

interface ReadOptions {
  /** Called before each message. May throw for one that is out of place. */
  readonly check: (name: string) => void;
  /** Called with whatever is thrown while a message is read and handled: the rest of the chunk is not read. */
  readonly onFailure: (error: unknown) => void;
}

/** Lets the connection, which isn't open yet, read with this parser. */
export function readMessages(connection: MessageReceiver, { check, onFailure }: ReadOptions): void {
  const receive = (message: Message): void => {
    check(message.name);
    connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message);
  };
  connection.attachListeners = (stream) => {
    const parser = new RowParser();
    stream.on('data', (chunk: Buffer) => {
      try {
        parser.parse(chunk, receive);
      } catch (error) {
        onFailure(error);
      }
    });
  };
}
