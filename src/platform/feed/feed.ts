import { inBackground } from '../background.ts';

/*
 * The end of a log, as one process sees it, for all streams that follow it.
 *
 * Model. While it is followed, one statement every 200 ms reads what was added to the log. The recent events stay in
 * memory, at most 10,000 or 16 MiB of them; a stream that has its position among them needs no statement.
 *
 * Guarantees. The events in memory follow each other in the log without a gap. Each statement checks that the log still
 * has the last of them; when it doesn't, the memory is emptied and a new generation begins, in which every stream has
 * to check its own position.
 *
 * Failures. Without the database nothing is added; the next statement that succeeds goes on from the same position.
 */

/** A place in a log. The salt is random and stored with the event: after a restore the position gets another one. */
export interface Position {
  /** A whole number in canonical decimal; later events have larger ones. */
  readonly position: string;
  readonly salt: string;
}

/** A log whose one order never changes. */
export interface Log<Event extends Position> {
  /** The position of the last event, or of the beginning. */
  last(): Promise<Position>;
  /** At most so many events after a position, in one statement; `isKnown` is false when the log doesn't have it. */
  readAfter(
    after: Position,
    limit: number,
  ): Promise<{ readonly isKnown: boolean; readonly last: Position; readonly events: readonly Event[] }>;
}

const everyMillis = 200;
/** As many as some ten thousand changes a second need. */
const batchSize = 2_000;
const maxEvents = 10_000;
const maxBytes = 16 * 1024 * 1024;

export interface FeedOptions<Event extends Position> {
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

export class Feed<Event extends Position> {
  readonly #options: FeedOptions<Event>;
  /** What the first event in memory follows; undefined until the first statement has succeeded. */
  #base: Position | undefined;
  #events: Event[] = [];
  #bytes = 0;
  /** How many events have left the memory: an event's index among all of the generation is its own after these. */
  #dropped = 0;
  readonly #indexes = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  /** Changes with each start: what was read for an earlier one counts for nothing. */
  #following: symbol | undefined;
  #isReading = false;
  #hasFailed = false;
  /** Changes when the log has lost the end of this feed. */
  generation = 0;

  constructor(options: FeedOptions<Event>) {
    this.#options = options;
  }

  /** The last position that was read; undefined until the first statement has succeeded. */
  get end(): Position | undefined {
    return this.#events.at(-1) ?? this.#base;
  }

  /** Somebody reads from now on. */
  start(): void {
    if (this.#following !== undefined) return;
    this.#following = Symbol();
    this.#isReading = false;
    this.#schedule(0, this.#following);
  }

  /** No reader is left: no statement is sent, and nothing is kept. */
  stop(): void {
    this.#following = undefined;
    clearTimeout(this.#timer);
    this.#restart(undefined);
  }

  /** This process has added to the log: it is read at once instead of at the next interval. */
  readNow(): void {
    if (this.#following === undefined || this.#isReading) return;
    clearTimeout(this.#timer);
    this.#schedule(0, this.#following);
  }

  /** The event after a position, `end` when there is none yet; undefined when the position isn't in memory. */
  after(place: Position): Event | 'end' | undefined {
    const next = this.#indexAfter(place);
    return next === undefined ? undefined : (this.#events[next] ?? 'end');
  }

  /** Whether the position is after the last one that was read. */
  isAhead({ position }: Position): boolean {
    const { end } = this;
    return end === undefined || BigInt(position) > BigInt(end.position);
  }

  #indexAfter(place: Position): number | undefined {
    if (isSame(this.#base, place)) return 0;
    const index = (this.#indexes.get(place.position) ?? -1) - this.#dropped;
    return isSame(this.#events[index], place) ? index + 1 : undefined;
  }

  #schedule(millis: number, following: symbol): void {
    this.#timer = setTimeout(() => inBackground(this.#tick(following)), millis).unref();
  }

  async #tick(following: symbol): Promise<void> {
    const startedAt = performance.now();
    this.#isReading = true;
    const apply = await this.#read();
    if (this.#following !== following) return;
    this.#isReading = false;
    // First: it goes on whatever becomes of this round.
    this.#schedule(Math.max(0, startedAt + everyMillis - performance.now()), following);
    apply();
    this.#options.onTick();
  }

  /** Returns what its result changes. Never rejects. */
  async #read(): Promise<() => void> {
    const { log, isOutage, onFailure } = this.#options;
    try {
      const { end } = this;
      const found = end === undefined ? undefined : await log.readAfter(end, batchSize);
      const last = found?.last ?? (await log.last());
      this.#hasFailed = false;
      return found?.isKnown === true ? () => this.#add(found.events) : () => this.#restart(last);
    } catch (error) {
      return () => {
        if (isOutage(error)) return;
        if (!this.#hasFailed) onFailure(error);
        this.#hasFailed = true;
      };
    }
  }

  #add(events: readonly Event[]): void {
    const { bytesOf } = this.#options;
    for (const event of events) {
      this.#indexes.set(event.position, this.#dropped + this.#events.length);
      this.#events.push(event);
      this.#bytes += bytesOf(event);
    }
    let surplus = 0;
    for (; this.#events.length - surplus > maxEvents || this.#bytes > maxBytes; surplus += 1)
      this.#bytes -= bytesOf(this.#events[surplus] as Event);
    const dropped = this.#events.splice(0, surplus);
    for (const { position } of dropped) this.#indexes.delete(position);
    this.#dropped += surplus;
    this.#base = placeOf(dropped.at(-1)) ?? this.#base;
  }

  #restart(base: Position | undefined): void {
    this.generation += 1;
    this.#base = placeOf(base);
    this.#events = [];
    this.#bytes = 0;
    this.#dropped = 0;
    this.#indexes.clear();
  }
}

function isSame(one: Position | undefined, other: Position): boolean {
  return one !== undefined && one.position === other.position && one.salt === other.salt;
}

/** Without the rest of an event. */
function placeOf(event: Position | undefined): Position | undefined {
  return event && { position: event.position, salt: event.salt };
}
