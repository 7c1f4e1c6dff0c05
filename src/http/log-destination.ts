import { pino, type DestinationStream } from 'pino';

/** As pino's own: it says the level of the line before it writes it. */
const metadata = Symbol.for('pino.metadata');

const errorLevel = pino.levels.values['error'] ?? 50;

/** What may wait for a reader that doesn't read. */
const maxWaitingBytes = 8 * 1024 * 1024;

/**
 * The log on stdout, written in the background: a reader that is slow, or doesn't read at all, never blocks the event loop.
 *
 * Lines leave within 100 ms, errors at once. Beyond 8 MiB of waiting lines further ones are dropped. Whoever ends the process calls
 * `close` first; what is lost without is what 100 ms have brought.
 */
export class LogDestination implements DestinationStream {
  readonly [metadata] = true;
  /** Set by pino. */
  lastLevel = 0;
  readonly #destination: ReturnType<typeof pino.destination>;
  #isClosing = false;

  constructor() {
    // Node opens a pipe without blocking: one that blocks would hold a thread of the pool in `write`, and with it the end of the process.
    const { fd } = process.stdout;
    this.#destination = pino.destination({
      dest: fd,
      sync: false,
      minLength: 4096,
      periodicFlush: 100,
      maxLength: maxWaitingBytes,
      retryEAGAIN: () => !this.#isClosing,
    });
    // A full disk, or a closed pipe: there is no place to report it, and the service goes on.
    this.#destination.on('error', () => undefined);
  }

  /** Calls the listener for every line that is dropped. */
  onDrop(listener: () => void): void {
    this.#destination.on('drop', listener);
  }

  write(line: string): void {
    this.#destination.write(line);
    if (this.lastLevel >= errorLevel) this.#destination.flush();
  }

  /** Writes what waits, for so long at most; nothing can be written after it. */
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
