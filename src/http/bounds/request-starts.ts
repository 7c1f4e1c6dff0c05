import { AsyncResource } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';

/** How many connections that wait get a chance in one tick of the event loop. */
const maxStartsPerTick = 256;

/** A connection with requests that have been read and not begun. */
interface Waiting {
  /** Begins the next of them. */
  beginNext(): void;
}

/**
 * Shares the event loop among the connections.
 *
 * Model: requests begin as they are read. One tick of the event loop may read requests of thousands of connections; so
 * after `startMillis` of it, those of further connections wait, and begin in later ticks, one of each connection after
 * the other.
 * Guarantee: before the first request of a connection there begin at most one of each other connection that waits, and
 * those of the tick in which it is read.
 */
export class RequestStarts {
  readonly #startMillis: number;
  readonly #waiting = new Set<Waiting>();
  #isScheduled = false;
  /** When the current tick has no time left; undefined until it has started a request. */
  #endsAt: number | undefined;

  /** `startMillis` is how long requests start in one tick of the event loop. */
  constructor(startMillis: number) {
    this.#startMillis = startMillis;
  }

  /** Whether a request may start as it is read: others don't wait, and the tick has time left. */
  get isFree(): boolean {
    return this.#waiting.size === 0 && this.#hasTime();
  }

  /** Begins the work now, or in a later tick. */
  enter(begin: () => void): void {
    if (this.isFree) return begin();
    // Another request's work begins it, whose context isn't its own.
    this.wait({ beginNext: AsyncResource.bind(begin) });
    return undefined;
  }

  /** Begins the connection's requests in later ticks. */
  wait(connection: Waiting): void {
    this.#waiting.add(connection);
    this.#schedule();
  }

  #hasTime(): boolean {
    const now = performance.now();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + this.#startMillis;
      setImmediate(() => {
        this.#endsAt = undefined;
      });
    }
    return now < this.#endsAt;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    // One call for each: most of what a request does follows in microtasks, which run between the calls.
    const count = Math.min(this.#waiting.size, maxStartsPerTick);
    for (let index = 0; index < count; index += 1) setImmediate(() => this.#startFirst());
    setImmediate(() => {
      this.#isScheduled = false;
      this.#schedule();
    });
  }

  #startFirst(): void {
    const [first] = this.#waiting;
    if (first === undefined || !this.#hasTime()) return;
    this.#waiting.delete(first);
    first.beginNext();
  }
}
