import { inBackground } from '../../background.ts';
import { runAsService } from '../../domain/access/current-request.ts';
import { isUnavailable } from '../../domain/errors.ts';
import { compareIds, type Id } from '../../domain/id.ts';
import type { EventPosition, StoreEvent } from '../../domain/events/event.ts';
import type { EventStore } from '../../domain/events/event.store.ts';

/*
 * The end of the log, as one process sees it, for all readers that follow it.
 *
 * Model. While it is followed, one statement every 200 ms reads what was added to the log. The recent events stay in
 * memory, at most 10,000 or 16 MiB of them. Each has a number of this process; a reader that has the number of its next
 * event needs no statement.
 *
 * Guarantees. The events in memory follow each other in the log without a gap. Each statement checks that the log still
 * has the last of them; when it doesn't, the memory is emptied, so that every reader has to check its own position.
 *
 * Failures. Without the database nothing is added; the next statement that succeeds goes on from the same position.
 */

const everyMillis = 200;
/** As many as some ten thousand changes a second need. */
const batchSize = 2_000;
const maxEvents = 10_000;
const maxBytes = 16 * 1024 * 1024;
/** Of an event besides its texts. */
const overheadBytes = 600;

export interface EventFeedOptions {
  readonly log: Pick<EventStore, 'last' | 'readAfter'>;
  /** Called after each statement, whether or not it has found events. Must not throw. */
  readonly onTick: () => void;
  /** Called when a statement fails for a reason besides a lost database, once until that has passed. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

export class EventFeed {
  readonly #options: EventFeedOptions;
  #events: StoreEvent[] = [];
  #bytes = 0;
  /** The number of the first event in memory. */
  #first = 0;
  readonly #numbers = new Map<Id, number>();
  #end: EventPosition | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Changes with each beginning: what was read for an earlier one counts for nothing. */
  #following: symbol | undefined;
  #isReading = false;
  #hasFailed = false;
  /** How often the log has lost this end. A reader's position after the new end may be lost with it. */
  losses = 0;

  constructor(options: EventFeedOptions) {
    this.#options = options;
  }

  /** The last position that was read; undefined until the first statement has succeeded. */
  get end(): EventPosition | undefined {
    return this.#end;
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
    this.#forget(undefined);
  }

  /** This process has added to the log: it is read at once instead of at the next interval. */
  readNow(): void {
    if (this.#following === undefined || this.#isReading) return;
    clearTimeout(this.#timer);
    this.#schedule(0, this.#following);
  }

  /** The number of the event after this position; undefined when that isn't in memory, nor the next one to come. */
  numberAfter({ position, salt }: EventPosition): number | undefined {
    if (this.#end !== undefined && this.#end.position === position && this.#end.salt === salt) {
      return this.#first + this.#events.length;
    }
    const number = this.#numbers.get(position);
    if (number === undefined || this.#events[number - this.#first]?.salt !== salt) return undefined;
    return number + 1;
  }

  /** Whether the position is after the last one that was read. */
  isAhead({ position }: EventPosition): boolean {
    return this.#end === undefined || compareIds(position, this.#end.position) > 0;
  }

  /** Whether the event with this number is in memory, or the next one to come. */
  has(number: number): boolean {
    return number >= this.#first && number <= this.#first + this.#events.length;
  }

  /** The event with this number; undefined for the next one to come. */
  get(number: number): StoreEvent | undefined {
    return this.#events[number - this.#first];
  }

  #schedule(millis: number, following: symbol): void {
    this.#timer = setTimeout(() => inBackground(runAsService(() => this.#tick(following))), millis).unref();
  }

  async #tick(following: symbol): Promise<void> {
    const startedAt = performance.now();
    this.#isReading = true;
    const apply = await this.#read();
    if (this.#following !== following) return;
    this.#isReading = false;
    apply();
    this.#schedule(Math.max(0, startedAt + everyMillis - performance.now()), following);
    this.#options.onTick();
  }

  /** Returns what its result changes. Never rejects. */
  async #read(): Promise<() => void> {
    const { log, onFailure } = this.#options;
    try {
      const end = this.#end;
      const found = end === undefined ? undefined : await log.readAfter(end, batchSize);
      const last = found?.last ?? (await log.last());
      this.#hasFailed = false;
      if (found?.isKnown === true) return () => this.#add(found.events);
      return () => {
        if (found !== undefined) this.losses += 1;
        this.#forget(last);
      };
    } catch (error) {
      return () => {
        if (isUnavailable(error)) return;
        if (!this.#hasFailed) onFailure(error);
        this.#hasFailed = true;
      };
    }
  }

  #add(events: readonly StoreEvent[]): void {
    for (const event of events) {
      this.#numbers.set(event.position, this.#first + this.#events.length);
      this.#events.push(event);
      this.#bytes += bytesOf(event);
    }
    this.#end = events.at(-1) ?? this.#end;
    let surplus = Math.max(0, this.#events.length - maxEvents);
    for (const event of this.#events.slice(0, surplus)) this.#bytes -= bytesOf(event);
    while (this.#bytes > maxBytes) {
      this.#bytes -= bytesOf(this.#events[surplus] as StoreEvent);
      surplus += 1;
    }
    for (const { position } of this.#events.splice(0, surplus)) this.#numbers.delete(position);
    this.#first += surplus;
  }

  /** Numbers are never given twice: a reader's number from before is of nothing in memory. */
  #forget(end: EventPosition | undefined): void {
    this.#first += this.#events.length + 1;
    this.#events = [];
    this.#bytes = 0;
    this.#numbers.clear();
    this.#end = end;
  }
}

/** An estimate of an event's memory: JavaScript keeps texts of other alphabets in two bytes for each character. */
export function bytesOf({ subject }: StoreEvent): number {
  let bytes = overheadBytes;
  for (const value of Object.values<unknown>(subject?.row ?? {}))
    if (typeof value === 'string') bytes += 2 * value.length;
  return bytes;
}
