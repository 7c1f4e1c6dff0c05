import type { Writable } from 'node:stream';

import type { Feed, Position, Positioned } from './feed.ts';

/** How results are written into a response that goes on. */
export interface Framing {
  readonly contentType: string;
  /** Sent at once, so that the client gets the head of the response. */
  readonly opening: string;
  readonly keepAlive: string;
  /** One result: `{"data":…}`. */
  result(body: string): string;
  /** The last message, with the errors that say why: `{"errors":[…]}`. */
  end(body: string): string;
}

/** The last message of a stream: why it ends. */
export interface StreamEnd {
  readonly code: string;
  /** `{"errors":[…]}` */
  readonly body: string;
}

/** Who has streams, and pays for them. */
export interface Subscriber {
  /** Why all of them have to end. Never rejects. */
  findEnd(): Promise<StreamEnd | undefined>;
  /** Spends so many units, or as many as there are. With `end` there are none for long. Never rejects. */
  charge(units: number): Promise<{ readonly spent: number; readonly end?: StreamEnd | undefined }>;
}

/** How long streams last, and what one unit pays for; the opening pays for the first one. Tests lower them. */
export interface StreamTerms {
  readonly keepAliveMillis: number;
  readonly lifeMillis: number;
  readonly millisOfUnit: number;
  readonly eventsOfUnit: number;
  readonly bytesOfUnit: number;
}

/**
 * The source, the form and the limits of a stream. They are kept as long as the stream: nothing of the request may hang
 * on it.
 */
export interface StreamSource<Event extends Positioned> {
  readonly subscriber: Subscriber;
  /** Its head is written. */
  readonly output: Writable;
  readonly framing: Framing;
  /** Where it begins. */
  readonly after: Position;
  /** At most so many events after a position, for this stream alone. Rejects when the log doesn't have it. */
  readonly readAfter: (after: Position, limit: number) => Promise<readonly Event[]>;
  /** Undefined where every event matches. */
  readonly matches: ((event: Event) => boolean) | undefined;
  /** The result for an event as JSON text. */
  readonly textOf: (event: Event) => string;
  /** Calls it in a later tick of the event loop, when it is the client's turn. */
  readonly turn: (goOn: () => void) => void;
  /** Holds so many bytes beside what it remembers; false, and no change, when its client can't have more. */
  readonly hold: (bytes: number) => boolean;
  /** Why a failure to read or to write its events ends it; undefined where it goes on. */
  readonly endOf: (error: unknown) => StreamEnd | undefined;
  /** Called with the code of the last message; undefined when the client has ended it. */
  readonly onClose: (code: string | undefined) => void;
}

export interface StreamOptions<Event extends Positioned> {
  /** An estimate of an event's memory. */
  readonly bytesOf: (event: Event) => number;
  readonly terms: StreamTerms;
}

const maxChunkCharacters = 16 * 1024;
const maxChunkMillis = 1;
const maxChunkBytes = 128 * 1024;
const maxOwnEvents = 100;
const maxOwnBytes = 64 * 1024;
const retryAfterMillis = 1_000;
/** The units that a stream may send between two charges. */
const maxOwed = 4;

/** One stream: a position in the log instead of a queue. */
export class FeedStream<Event extends Positioned> {
  /** How many events were sent, and how many bytes of all that was. */
  sent = 0;
  sentBytes = 0;
  /** The code of the last message; undefined when the client has ended it. */
  endCode: string | undefined;
  /** The units that it has paid for, beside that of the opening. */
  paid = 0;
  /** The last charge was refused. */
  isUnpaid = false;
  readonly source: StreamSource<Event>;
  readonly #feed: Feed<Event>;
  readonly #options: StreamOptions<Event>;
  readonly #beganAt = performance.now();
  readonly #endsAt: number;
  #keepAliveAt: number;
  #position: Position;
  /** Events that it has read for itself. */
  #own: Event[] = [];
  #ownBytes = 0;
  #ownLimit = maxOwnEvents;
  /** The stream waits for its turn, for a statement, or for the client to take what was written. */
  #isBusy = true;
  #isEnding = false;
  #retryAt = -Infinity;
  /** The feed's restarts when the log was last known to have the position. */
  #restarts: number;

  constructor(source: StreamSource<Event>, feed: Feed<Event>, options: StreamOptions<Event>) {
    const { lifeMillis, keepAliveMillis } = options.terms;
    this.source = source;
    this.#feed = feed;
    this.#options = options;
    // Streams that begin together don't end together.
    this.#endsAt = this.#beganAt + lifeMillis * (0.9 + 0.2 * Math.random());
    this.#keepAliveAt = this.#beganAt + keepAliveMillis;
    this.#position = source.after;
    this.#restarts = feed.restarts;
  }

  /** Units to pay for: time counts as it begins, events and bytes as they have been sent, whichever is more. */
  get owed(): number {
    const { millisOfUnit, eventsOfUnit, bytesOfUnit } = this.#options.terms;
    const volume = Math.floor(Math.max(this.sent / eventsOfUnit, this.sentBytes / bytesOfUnit));
    const time = Math.floor((performance.now() - this.#beganAt) / millisOfUnit);
    return time + Math.max(0, volume - 1) - this.paid;
  }

  /** Call it once. */
  begin(onClose: () => void): void {
    const { output, framing } = this.source;
    const close = (): void => {
      this.#isEnding = true;
      this.#own = [];
      onClose();
    };
    // Its client may have gone before it has begun.
    if (output.closed) return close();
    output.once('close', close);
    return this.#write(framing.opening);
  }

  /** There may be something to send. */
  wake(): void {
    if (this.#isBusy || this.#isEnding || this.isUnpaid || this.owed >= maxOwed) return;
    if (performance.now() < this.#retryAt || this.#next() === undefined) return;
    this.#isBusy = true;
    this.source.turn(() => {
      this.#isBusy = false;
      if (!this.#isEnding) this.#goOn();
    });
  }

  /** Ends when it has lasted its time, and is kept alive. Call it again and again. */
  checkTimes(lasted: () => StreamEnd): void {
    const now = performance.now();
    if (now >= this.#endsAt) return this.end(lasted());
    if (now < this.#keepAliveAt) return undefined;
    this.#keepAliveAt = now + this.#options.terms.keepAliveMillis;
    if (!this.#isBusy && !this.#isEnding) this.#write(this.source.framing.keepAlive);
    return undefined;
  }

  /** Ends with a last message. Without effect when it has ended, or when there is none. */
  end(last: StreamEnd | undefined): void {
    if (this.#isEnding || last === undefined) return;
    this.#isEnding = true;
    this.endCode = last.code;
    this.source.output.end(this.source.framing.end(last.body));
  }

  /** The next event, if there is one yet; `behind` when it has to be read from the log. */
  #next(): Event | 'behind' | undefined {
    const next = this.#own[0] ?? this.#feed.after(this.#position);
    if (next !== undefined) return next === 'end' ? undefined : next;
    // The log is known to have the position, though the feed hasn't come to it.
    const isAhead = this.#feed.restarts === this.#restarts && this.#feed.isAhead(this.#position);
    return isAhead ? undefined : 'behind';
  }

  #goOn(): void {
    const { hold, endOf } = this.source;
    const next = this.#next();
    if (next === undefined) return;
    const isBehind = next === 'behind';
    if (!hold(isBehind ? maxOwnBytes : this.#ownBytes + maxChunkBytes)) {
      this.#retryAt = performance.now() + retryAfterMillis;
      return;
    }
    if (isBehind) return this.#readOwn();
    try {
      this.#write(this.#nextText());
    } catch (error) {
      this.end(endOf(error));
    }
  }

  #nextText(): string {
    const { matches, textOf, framing } = this.source;
    const endsAt = performance.now() + maxChunkMillis;
    let text = '';
    for (let event = this.#next(); event !== undefined && event !== 'behind'; event = this.#next()) {
      if (matches === undefined || matches(event)) {
        text += framing.result(textOf(event));
        this.sent += 1;
      }
      this.#position = event.position;
      const own = this.#own.shift();
      if (own !== undefined) this.#ownBytes -= this.#options.bytesOf(own);
      if (text.length >= maxChunkCharacters || performance.now() >= endsAt) break;
    }
    return text;
  }

  #write(text: string): void {
    const { output, hold } = this.source;
    const chunk = Buffer.from(text);
    // Bytes that its client hasn't taken is counted by its connection.
    hold(this.#ownBytes);
    this.#isBusy = text !== '' && !output.destroyed;
    if (!this.#isBusy) return this.wake();
    this.sentBytes += chunk.length;
    output.write(chunk, () => {
      this.#isBusy = false;
      this.wake();
    });
  }

  /** Reads the events that the feed doesn't have any more. */
  #readOwn(): void {
    const { readAfter, hold, endOf } = this.source;
    const { restarts } = this.#feed;
    const goOn = (events: readonly Event[]): void => {
      this.#isBusy = false;
      if (this.#isEnding) return;
      this.#restarts = restarts;
      this.#keepOwn(events);
      this.#ownLimit = Math.min(maxOwnEvents, 2 * Math.max(1, this.#own.length));
      hold(this.#ownBytes);
      // Without any the feed is about to learn what the log has lost.
      if (events.length > 0) this.wake();
    };
    this.#isBusy = true;
    readAfter(this.#position, this.#ownLimit).then(goOn, (error: unknown) => {
      this.#retryAt = performance.now() + retryAfterMillis;
      goOn([]);
      this.end(endOf(error));
    });
  }

  /** The first of the events, one at least, that take no more than `maxOwnBytes`. */
  #keepOwn(events: readonly Event[]): void {
    this.#own = [];
    this.#ownBytes = 0;
    for (const event of events) {
      const bytes = this.#ownBytes + this.#options.bytesOf(event);
      if (this.#own.length > 0 && bytes > maxOwnBytes) return;
      this.#own.push(event);
      this.#ownBytes = bytes;
    }
  }
}
