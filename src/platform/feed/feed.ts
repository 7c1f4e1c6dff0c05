import { inBackground } from '../background.ts';

/**
 * A place in a log: its number, which later events have larger, and its nonce, which is random and stored with the
 * event. After a restore the same number gets another nonce.
 */
export type Position = `${bigint}:${bigint}`;

export interface Positioned {
  readonly position: Position;
}

/** A log whose one order never changes. */
export interface Log<Event extends Positioned> {
  /** The position of the last event, or of the beginning. */
  last(): Promise<Position>;
  /** At most so many events after a position, in one statement; `isKnown` is false when the log doesn't have it. */
  readAfter(
    after: Position,
    limit: number,
  ): Promise<{ readonly isKnown: boolean; readonly last: Position; readonly events: readonly Event[] }>;
}

const everyMillis = 200;
const batchSize = 2_000;
const maxEvents = 10_000;
const maxBytes = 16 * 1024 * 1024;

export interface FeedOptions<Event extends Positioned> {
  readonly log: Log<Event>;
  /** An estimate of an event's memory. */
  readonly bytesOf: (event: Event) => number;
  /** Called after each statement, whether or not it has found events. Must not throw. */
  readonly onTick: () => void;
  /** Whether a failed statement is no news: the database is lost. */
  readonly isOutage: (error: unknown) => boolean;
  /** Called when a statement fails for another reason, once until that has passed. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The end of a log, as one process sees it: the recent events, for all streams that follow it. It reads from when it is
 * made until `stop`.
 */
export class Feed<Event extends Positioned> {
  readonly #options: FeedOptions<Event>;
  /** The position before the first event in memory; undefined until the first statement has succeeded. */
  #base: Position | undefined;
  #events: Event[] = [];
  #bytes = 0;
  /** How many events have left the memory since it began anew. */
  #dropped = 0;
  /** The index of the event after a position, by all positions in memory; those that were dropped count. */
  readonly #indexes = new Map<Position | undefined, number>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #isReading = false;
  #hasFailed = false;
  /** How often it has begun anew, as when the log has lost its end. */
  restarts = 0;

  constructor(options: FeedOptions<Event>) {
    this.#options = options;
    this.#schedule(0);
  }

  /** The last position that was read; undefined until the first statement has succeeded. */
  get end(): Position | undefined {
    return this.#events.at(-1)?.position ?? this.#base;
  }

  /** No reader is left: no further statement is sent. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** This process has added to the log: it is read at once instead of at the next interval. */
  readNow(): void {
    if (this.#isStopped || this.#isReading) return;
    clearTimeout(this.#timer);
    this.#schedule(0);
  }

  /** The event after a position, `end` when there is none yet; undefined when the position isn't in memory. */
  after(position: Position): Event | 'end' | undefined {
    const index = this.#indexes.get(position);
    return index === undefined ? undefined : (this.#events[index - this.#dropped] ?? 'end');
  }

  /** Whether the position is after the last one that was read. */
  isAhead(position: Position): boolean {
    const { end } = this;
    return end === undefined || numberOf(position) > numberOf(end);
  }

  #schedule(millis: number): void {
    this.#timer = setTimeout(() => inBackground(this.#tick()), millis).unref();
  }

  async #tick(): Promise<void> {
    const startedAt = performance.now();
    this.#isReading = true;
    try {
      await this.#read();
    } finally {
      // The feed goes on whatever becomes of this round.
      this.#isReading = false;
      if (!this.#isStopped) this.#schedule(Math.max(0, startedAt + everyMillis - performance.now()));
    }
    if (!this.#isStopped) this.#options.onTick();
  }

  async #read(): Promise<void> {
    const { log, isOutage, onFailure } = this.#options;
    try {
      const { end } = this;
      const found = end === undefined ? undefined : await log.readAfter(end, batchSize);
      const last = found?.last ?? (await log.last());
      this.#hasFailed = false;
      if (found?.isKnown === true) this.#add(found.events);
      else this.#restart(last);
    } catch (error) {
      if (isOutage(error)) return;
      if (!this.#hasFailed) onFailure(error);
      this.#hasFailed = true;
    }
  }

  #add(events: readonly Event[]): void {
    const { bytesOf } = this.#options;
    for (const event of events) {
      this.#indexes.set(event.position, this.#dropped + this.#events.length + 1);
      this.#events.push(event);
      this.#bytes += bytesOf(event);
    }
    let surplus = 0;
    for (; this.#events.length - surplus > maxEvents || this.#bytes > maxBytes; surplus += 1) {
      const event = this.#events[surplus] as Event;
      this.#bytes -= bytesOf(event);
      this.#indexes.delete(this.#base);
      this.#base = event.position;
    }
    this.#events.splice(0, surplus);
    this.#dropped += surplus;
  }

  #restart(base: Position): void {
    this.restarts += 1;
    this.#base = base;
    this.#events = [];
    this.#bytes = 0;
    this.#dropped = 0;
    this.#indexes.clear();
    this.#indexes.set(base, 0);
  }
}

function numberOf(position: Position): bigint {
  return BigInt(position.slice(0, position.indexOf(':')));
}
