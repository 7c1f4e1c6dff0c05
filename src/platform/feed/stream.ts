import type { Writable } from 'node:stream';

import type { Feed, Position } from './feed.ts';
import type { Framing } from './framing.ts';

/** What a stream reads, sends and may. It is kept as long as the stream: nothing of the request may hang on it. */
export interface StreamSource<Event extends Position> {
  readonly feed: Pick<Feed<Event>, 'after' | 'isAhead' | 'generation'>;
  /** At most so many events after a position, for this stream alone. Rejects when the log doesn't have it. */
  readonly readAfter: (after: Position, limit: number) => Promise<readonly Event[]>;
  /** Undefined where every event matches. */
  readonly matches: ((event: Event) => boolean) | undefined;
  /** The result for an event as JSON text. */
  readonly textOf: (event: Event) => string;
  readonly bytesOf: (event: Event) => number;
  readonly framing: Framing;
  /** Calls it in a later tick of the event loop, when it is the client's turn. */
  readonly turn: (goOn: () => void) => void;
  /** Holds so many bytes beside what it remembers; false, and no change, when its client can't have more. */
  readonly hold: (bytes: number) => boolean;
  /** False while what it has sent isn't paid for. */
  readonly mayGoOn: () => boolean;
  /** Called when its events can't be read or written. */
  readonly onFailure: (error: unknown) => void;
  readonly onClose: () => void;
}

/** Events that are sent in one chunk, and how long one is written. */
const maxChunkCharacters = 16 * 1024;
const maxChunkMillis = 1;
/** What a chunk may become, at most: it ends with the event that goes beyond `maxChunkCharacters`. */
const maxChunkBytes = 128 * 1024;
/** Events that are read for this stream alone. */
const maxOwnEvents = 100;
/** Of these at most so many bytes are kept, but one event at least: a client that doesn't read may have many streams. */
const maxOwnBytes = 64 * 1024;
const retryAfterMillis = 1_000;

/**
 * One stream: a position in the log instead of a queue.
 *
 * The next events are written in a turn of its client, when that has taken those before; until then only the position is
 * kept. Events that are no longer in the feed's memory are read from the log, at most 100 at a time.
 */
export class FeedStream<Event extends Position> {
  /** What was sent. */
  sent = 0;
  sentBytes = 0;
  /** The code of the last message; undefined when the client has ended it. */
  endCode: string | undefined;
  readonly output: Writable;
  readonly #source: StreamSource<Event>;
  #position: Position;
  #own: readonly Event[] = [];
  #ownBytes = 0;
  #ownLimit = maxOwnEvents;
  /** It waits for its turn, for a statement, or for the client to take what was written. */
  #isBusy = true;
  #isEnding = false;
  #retryAt = -Infinity;
  /** The feed's generation when the log was last known to have the position. */
  #generation: number;

  constructor(source: StreamSource<Event>, output: Writable, { position, salt }: Position) {
    this.#source = source;
    this.output = output;
    this.#position = { position, salt };
    this.#generation = source.feed.generation;
  }

  /** Call it once. */
  begin(): void {
    const close = (): void => {
      this.#isEnding = true;
      this.#own = [];
      this.#source.onClose();
    };
    // Its client may have gone before it has begun.
    if (this.output.closed) return close();
    this.output.once('close', close);
    return this.#write(this.#source.framing.opening);
  }

  /** There may be something to send. */
  wake(): void {
    if (this.#isBusy || this.#isEnding || !this.#source.mayGoOn()) return;
    if (performance.now() < this.#retryAt || !this.#hasWork()) return;
    this.#isBusy = true;
    this.#source.turn(() => {
      this.#isBusy = false;
      if (!this.#isEnding) this.#goOn();
    });
  }

  keepAlive(): void {
    if (!this.#isBusy && !this.#isEnding) this.#write(this.#source.framing.keepAlive);
  }

  /** Ends with a last message. Without effect when it has ended. */
  end(body: string, code: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.endCode = code;
    this.output.end(this.#source.framing.end(body));
  }

  #hasWork(): boolean {
    if (this.#own.length > 0) return true;
    const next = this.#source.feed.after(this.#position);
    return next === undefined ? !this.#isAhead() : next !== 'end';
  }

  #goOn(): void {
    const { feed, hold, onFailure } = this.#source;
    const isBehind = this.#own.length === 0 && feed.after(this.#position) === undefined;
    if (isBehind && this.#isAhead()) return;
    if (!hold(isBehind ? maxOwnBytes : this.#ownBytes + maxChunkBytes)) {
      this.#retryAt = performance.now() + retryAfterMillis;
      return;
    }
    if (isBehind) return this.#readOwn();
    try {
      this.#write(this.#nextText());
    } catch (error) {
      onFailure(error);
    }
  }

  #nextText(): string {
    const { matches, textOf, framing } = this.#source;
    const endsAt = performance.now() + maxChunkMillis;
    let text = '';
    for (let event = this.#next(); event !== undefined; event = this.#next()) {
      if (matches === undefined || matches(event)) {
        text += framing.result(textOf(event));
        this.sent += 1;
      }
      this.#advance(event);
      if (text.length >= maxChunkCharacters || performance.now() >= endsAt) break;
    }
    return text;
  }

  #next(): Event | undefined {
    if (this.#own.length > 0) return this.#own[0];
    const next = this.#source.feed.after(this.#position);
    return next === 'end' ? undefined : next;
  }

  #advance({ position, salt }: Event): void {
    this.#position = { position, salt };
    if (this.#own.length === 0) return;
    this.#ownBytes -= this.#source.bytesOf(this.#own[0] as Event);
    this.#own = this.#own.slice(1);
  }

  #write(text: string): void {
    const chunk = Buffer.from(text);
    // What its client hasn't taken is counted by its connection.
    this.#source.hold(this.#ownBytes);
    this.#isBusy = text !== '' && !this.output.destroyed;
    if (!this.#isBusy) return this.wake();
    this.sentBytes += chunk.length;
    this.output.write(chunk, () => {
      this.#isBusy = false;
      this.wake();
    });
  }

  /** Whether the log is known to have the position, though the feed hasn't come to it. */
  #isAhead(): boolean {
    const { feed } = this.#source;
    return feed.generation === this.#generation && feed.isAhead(this.#position);
  }

  /** Reads the events that the feed doesn't have any more. */
  #readOwn(): void {
    const { feed, readAfter, bytesOf, hold, onFailure } = this.#source;
    const { generation } = feed;
    const goOn = (events: readonly Event[]): void => {
      this.#isBusy = false;
      if (this.#isEnding) return;
      this.#generation = generation;
      [this.#own, this.#ownBytes] = within(maxOwnBytes, events, bytesOf);
      this.#ownLimit = Math.min(maxOwnEvents, 2 * Math.max(1, this.#own.length));
      hold(this.#ownBytes);
      // Without any the feed is about to learn what the log has lost.
      if (events.length > 0) this.wake();
    };
    this.#isBusy = true;
    readAfter(this.#position, this.#ownLimit).then(goOn, (error: unknown) => {
      this.#retryAt = performance.now() + retryAfterMillis;
      goOn([]);
      onFailure(error);
    });
  }
}

/** The first of the events, at least one, that take no more memory than this; and what they take. */
function within<Event>(
  maxBytes: number,
  events: readonly Event[],
  bytesOf: (event: Event) => number,
): [readonly Event[], number] {
  let bytes = 0;
  for (const [index, event] of events.entries()) {
    const next = bytes + bytesOf(event);
    if (index > 0 && next > maxBytes) return [events.slice(0, index), bytes];
    bytes = next;
  }
  return [events, bytes];
}
