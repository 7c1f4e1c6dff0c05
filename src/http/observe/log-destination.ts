import { pino, type DestinationStream } from 'pino';

/** As in pino's own destination: the level is set before each write. */
const metadata = Symbol.for('pino.metadata');

const errorLevel = pino.levels.values['error'] ?? 50;

/** The buffer for a reader that is slow or has stopped. */
const maxWaitingBytes = 8 * 1024 * 1024;

/**
 * What leaves together while there are many lines: each write wakes a thread, which costs more than making ten lines.
 */
const chunkBytes = 32 * 1024;

/**
 * The log on stdout, written in the background: a reader that is slow, or doesn't read at all, never blocks the event
 * loop.
 *
 * Lines leave within 100 ms, errors at once. Beyond 8 MiB of buffered lines, further ones are dropped. Call `close`
 * before the process ends; otherwise the lines of the last 100 ms are lost.
 */
export class LogDestination implements DestinationStream {
  readonly [metadata] = true;
  /** Set by pino. */
  lastLevel = 0;
  readonly #destination: ReturnType<typeof pino.destination>;
  #isClosing = false;

  constructor() {
    // Node opens a pipe without blocking: one that blocks would hold a thread of the pool in `write`, and with it the
    // end of the process.
    const { fd } = process.stdout;
    this.#destination = pino.destination({
      dest: fd,
      sync: false,
      minLength: chunkBytes,
      maxWrite: 2 * chunkBytes,
      // As text, all that waits would be measured and copied with each line.
      contentMode: 'buffer',
      periodicFlush: 100,
      maxLength: maxWaitingBytes,
      retryEAGAIN: () => !this.#isClosing,
    });
    // A full disk, or a closed pipe: it can't be reported, and the service continues.
    this.#destination.on('error', () => undefined);
  }

  /** Calls the listener for every line that is dropped. */
  onDrop(listener: () => void): void {
    this.#destination.on('drop', listener);
  }

  write(line: string): void {
    // Its type knows only text.
    this.#destination.write(Buffer.from(line) as unknown as string);
    if (this.lastLevel >= errorLevel) this.#destination.flush();
  }

  /** Flushes the buffer until the timeout; nothing can be written after it. */
  async close(timeoutMillis: number): Promise<void> {
    const written = Promise.withResolvers<boolean>();
    const timeout = setTimeout(() => written.resolve(false), timeoutMillis);
    this.#destination.flush(() => written.resolve(true));
    const isRead = await written.promise;
    clearTimeout(timeout);
    this.#isClosing = true;
    this.write = () => undefined;
    // Less than `minLength` may be left.
    if (isRead) this.#writeRest();
    // Or pino would write what is left when the process exits, for as long as it takes.
    this.#destination.destroy();
  }

  #writeRest(): void {
    try {
      this.#destination.flushSync();
    } catch {
      // The pipe is closed.
    }
  }
}
