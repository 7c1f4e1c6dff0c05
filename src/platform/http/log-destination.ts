import { write } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { DestinationStream } from 'pino';

import { within } from '../background.ts';

/** A line of the levels `error` (50) and `fatal` (60): the level comes first. */
const urgentLine = /^\{"level":[56]/;

/** The buffer for a reader that is slow or has stopped. */
const maxWaitingBytes = 8 * 1024 * 1024;

/**
 * The bytes that leave together while there are many lines: each write wakes a thread, which costs more than making ten
 * lines.
 */
const chunkBytes = 32 * 1024;

const lineFeed = 0x0a;
const flushMillis = 100;
/** After a write that has failed: nothing reads the pipe, or the disk is full. */
const retryMillis = 100;

/** Nothing can be written any more. */
const finalErrors = new Set(['EPIPE', 'EBADF']);

const writeTo = promisify(write);

/**
 * The log on stdout, written in the background: a reader that is slow, or doesn't read at all, never blocks the event
 * loop.
 *
 * Lines leave within 100 ms, errors at once. Beyond 8 MiB of buffered lines, further ones are dropped. Call `close`
 * before the process ends; otherwise the lines of the last 100 ms are lost. (At the end, `pino.destination` would write
 * what is left for as long as it takes: for ever on a full disk.)
 */
export class LogDestination implements DestinationStream {
  // Node opens a pipe without blocking: one that blocks would hold a thread of the pool in `write`, and with it the end
  // of the process.
  readonly #fd = process.stdout.fd;
  #lines: Buffer[] = [];
  #waitingBytes = 0;
  /** All that waits is to be written, not only whole chunks. */
  #isUrgent = false;
  #isWriting = false;
  #written: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #onDrop: () => void = () => undefined;

  /** Calls the listener for every line that is dropped. */
  onDrop(listener: () => void): void {
    this.#onDrop = listener;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#isClosed || this.#waitingBytes + bytes.length > maxWaitingBytes) {
      this.#onDrop();
      return;
    }
    this.#lines.push(bytes);
    this.#waitingBytes += bytes.length;
    if (urgentLine.test(line)) this.#flush();
    else if (this.#waitingBytes >= chunkBytes) this.#begin();
    else this.#timer ??= setTimeout(() => this.#flush(), flushMillis).unref();
  }

  /**
   * Writes whole lines of another process as they are, at once. Whoever calls it waits until they have been written: so
   * they are never more than one call of each.
   */
  async forward(lines: Buffer): Promise<void> {
    if (this.#isClosed) {
      for (const byte of lines) if (byte === lineFeed) this.#onDrop();
      return;
    }
    this.#lines.push(lines);
    this.#waitingBytes += lines.length;
    this.#flush();
    await this.#written;
  }

  /** Writes what waits until the timeout; nothing can be written after it. */
  async close(timeoutMillis: number): Promise<void> {
    this.#flush();
    await within(timeoutMillis, this.#written);
    this.#isClosed = true;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isUrgent = true;
    this.#begin();
  }

  #begin(): void {
    if (!this.#isWriting) this.#written = this.#writeWaiting();
  }

  /** Never rejects. */
  async #writeWaiting(): Promise<void> {
    this.#isWriting = true;
    while (this.#lines.length > 0 && (this.#isUrgent || this.#waitingBytes >= chunkBytes)) {
      const chunk = this.#takeChunk();
      await this.#writeChunk(chunk);
      this.#waitingBytes -= chunk.length;
    }
    this.#isWriting = false;
    this.#isUrgent = false;
    if (this.#lines.length > 0) this.#timer ??= setTimeout(() => this.#flush(), flushMillis).unref();
  }

  #takeChunk(): Buffer {
    let bytes = 0;
    let count = 0;
    while (count < this.#lines.length && bytes < chunkBytes) {
      bytes += this.#lines[count]?.length ?? 0;
      count += 1;
    }
    const [first = Buffer.alloc(0), ...others] = this.#lines.splice(0, count);
    return others.length === 0 ? first : Buffer.concat([first, ...others]);
  }

  /** Tries again after a failure, until the log is closed. */
  async #writeChunk(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length && !this.#isClosed;) {
      try {
        at += (await writeTo(this.#fd, chunk, at)).bytesWritten;
      } catch (error) {
        // The failure can't be reported, and the service continues.
        if (finalErrors.has((error as NodeJS.ErrnoException).code ?? '')) this.#isClosed = true;
        else await wait(retryMillis);
      }
    }
  }
}
