import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

const recordHeaderBytes = 5;

/**
 * A socket under TLS of which no more bytes are read than is allowed, whatever they are: handshake, session tickets,
 * heads, framing. The rest waits until more is allowed, or the socket is destroyed.
 */
export class BoundedSocket extends Duplex {
  readonly #socket: Socket;
  #left: number;
  /** A record that has begun is read to its end: a part of it says nothing. */
  #withWholeRecords = false;
  #onExceeded: () => void;
  #rest: Buffer[] = [];
  /** What of the current record's header has come, and how much of its content is missing. */
  #header: number[] = [];
  #recordLeft = 0;

  constructor(socket: Socket, bytes: number, onExceeded: () => void) {
    super();
    this.#socket = socket;
    this.#left = bytes;
    this.#onExceeded = onExceeded;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** From now on so many bytes, and what is left of the record that they end in. */
  allow(bytes: number, onExceeded: () => void): void {
    this.#left = bytes;
    this.#withWholeRecords = true;
    this.#onExceeded = onExceeded;
    const rest = Buffer.concat(this.#rest.splice(0));
    if (rest.length > 0) this.#take(rest);
    if (this.#rest.length === 0) this.#socket.resume();
  }

  override _read(): void {
    if (this.#rest.length === 0) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    const bytes = this.#allowedOf(chunk);
    const hasRoom = bytes === 0 || this.push(chunk.subarray(0, bytes));
    if (hasRoom && bytes === chunk.length) return;
    this.#socket.pause();
    if (bytes === chunk.length) return;
    this.#rest.push(chunk.subarray(bytes));
    this.#onExceeded();
  }

  #allowedOf(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length) {
      const isWithin = this.#withWholeRecords && (this.#recordLeft > 0 || this.#header.length > 0);
      if (this.#left <= 0 && !isWithin) break;
      const missing = this.#recordLeft > 0 ? this.#recordLeft : recordHeaderBytes - this.#header.length;
      const most = this.#withWholeRecords ? missing : Math.min(missing, this.#left);
      const part = chunk.subarray(at, at + most);
      if (this.#recordLeft > 0) this.#recordLeft -= part.length;
      else this.#readHeader(part);
      this.#left -= part.length;
      at += part.length;
    }
    return at;
  }

  #readHeader(part: Buffer): void {
    this.#header.push(...part);
    if (this.#header.length < recordHeaderBytes) return;
    const [, , , high = 0, low = 0] = this.#header;
    this.#recordLeft = 256 * high + low;
    this.#header = [];
  }
}
