import { attempt, inBackground } from '../background.ts';
import type { DeliveryLog, Endpoint } from './endpoint.ts';
import type { EndpointRun } from './endpoint-run.ts';

const maxReads = 4;
const maxReadEvents = 20;
/** Of events that wait in memory; an endpoint without any may always have one. */
const maxHeldBytes = 16 * 1024 * 1024;

interface LogReaderOptions<E extends Endpoint> {
  readonly log: DeliveryLog<E>;
  /** The endpoint may have something to send now. */
  readonly onRead: (run: EndpointRun<E>) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Reads the log for the endpoints that want more, each in its turn. */
export class LogReader<E extends Endpoint> {
  readonly #options: LogReaderOptions<E>;
  readonly #waiting = new Set<EndpointRun<E>>();
  #reads = 0;
  #heldBytes = 0;
  /** How often the log has had more. */
  #news = 0;

  constructor(options: LogReaderOptions<E>) {
    this.#options = options;
  }

  /** The log has more. */
  recordNews(): void {
    this.#news += 1;
  }

  /** Reads for these too. All endpoints together hold so many bytes at the moment. */
  read(wanting: readonly EndpointRun<E>[], heldBytes: number): void {
    for (const run of wanting) this.#waiting.add(run);
    this.#heldBytes = heldBytes;
    this.#readMore();
  }

  /** Begins no further read. */
  stop(): void {
    this.#waiting.clear();
  }

  #readMore(): void {
    for (const run of this.#waiting) {
      if (this.#reads >= maxReads) return;
      this.#waiting.delete(run);
      const isFull = this.#heldBytes > maxHeldBytes;
      // One that holds something wants more again when that is done.
      if (!run.wantsMore || (isFull && run.heldBytes > 0)) continue;
      this.#reads += 1;
      run.isReading = true;
      inBackground(
        this.#readFor(run, isFull ? 1 : maxReadEvents).finally(() => {
          this.#reads -= 1;
          run.isReading = false;
          this.#options.onRead(run);
          // What is in memory is read at once: so only a few in each tick of the event loop.
          setImmediate(() => attempt(() => this.#readMore()));
        }),
      );
    }
  }

  /** Never rejects. */
  async #readFor(run: EndpointRun<E>, limit: number): Promise<void> {
    const { log, onFailure } = this.#options;
    const news = this.#news;
    try {
      const events = await log.readAfter(run.endpoint, run.readTo, limit);
      const heldBefore = run.heldBytes;
      run.add(events);
      this.#heldBytes += run.heldBytes - heldBefore;
      // The log has got more meanwhile.
      if (news !== this.#news) run.isAtEnd = false;
    } catch (error) {
      // Read again after the next round of leases.
      run.isAtEnd = true;
      onFailure(error);
    }
  }
}
