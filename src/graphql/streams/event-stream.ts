import { Readable } from 'node:stream';

import { runAs } from '../../domain/access/current-request.ts';
import type { TickTime } from '../../account/tick-time.ts';
import { bytesOf, type EventFeed } from './event-feed.ts';
import type { EventPredicate } from '../../domain/events/event-filter.ts';
import type { EventService } from '../../domain/events/event.service.ts';
import type { EventPosition, StoreEvent } from '../../domain/events/event.ts';
import type { Framing } from './framing.ts';
import type { StreamSelection } from './stream-selection.ts';

/** What a stream reads and sends. */
export interface StreamSource {
  readonly feed: Pick<EventFeed, 'get' | 'has' | 'numberAfter' | 'isAhead' | 'losses'>;
  readonly events: Pick<EventService, 'readAfter'>;
  /** Under which reads of its own are counted, and what follows them. */
  readonly clientId: string;
  readonly ticks: Pick<TickTime, 'enter'>;
  readonly selection: StreamSelection;
  readonly matches: EventPredicate | undefined;
  readonly framing: Framing;
  /** Called when its events can't be read. */
  readonly onFailure: (error: unknown) => void;
  readonly onClose: () => void;
}

/** Events that are sent in one chunk. */
const maxChunkCharacters = 16 * 1024;
/** Events that are read for this stream alone. */
const ownBatchSize = 100;
/** Of these at most so many are kept, but one at least: a client that doesn't read may have many streams. */
const maxOwnBytes = 64 * 1024;
const retryAfterMillis = 1_000;

/**
 * The body of one stream: a position in the log instead of a queue.
 *
 * The next events are written when the client has taken those before; until then only the position is kept. Events that
 * are no longer in the feed's memory are read from the log, at most 100 at a time.
 */
export class EventStream extends Readable {
  /** How many events were sent. */
  sent = 0;
  /** The code of the last message; undefined when the client has ended it. */
  endCode: string | undefined;
  readonly #source: StreamSource;
  #position: EventPosition;
  /** The feed's number of the next event, while that is in its memory. */
  #number: number | undefined;
  #own: readonly StoreEvent[] = [];
  #ownIndex = 0;
  /** What the next event was waited for: texts may be too long to be kept for all. */
  #written: { readonly event: StoreEvent; readonly text: string } | undefined;
  #isWanted = false;
  #isReading = false;
  #isEnding = false;
  #retryAt = -Infinity;
  /** The feed's losses when the log was last known to have the position. */
  #losses: number;

  constructor(source: StreamSource, after: EventPosition) {
    super({ highWaterMark: 1, encoding: 'utf8' });
    this.#source = source;
    this.#position = after;
    this.#losses = source.feed.losses;
    this.push(source.framing.opening);
  }

  /** The client has taken everything. */
  override _read(): void {
    this.#isWanted = true;
    this.send();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#isEnding = true;
    this.#source.onClose();
    callback(error);
  }

  /** Sends the next events, if there are any and the client has taken those before. */
  send(): void {
    if (!this.#isWanted || this.#isReading || this.#isEnding) return;
    const { selection, matches, framing } = this.#source;
    let text = '';
    for (let event = this.#next(); event !== undefined && text.length < maxChunkCharacters; event = this.#next()) {
      if (matches === undefined || matches(event)) {
        const written = this.#written?.event === event ? this.#written.text : selection.textOf(event);
        if (typeof written !== 'string') {
          if (text === '') return this.#wait(event, written);
          break;
        }
        text += framing.result(written);
        this.sent += 1;
      }
      this.#advance(event);
    }
    if (text !== '') this.#pushChunk(text);
    else if (this.#next() === undefined && this.#number === undefined) this.#readOn();
  }

  keepAlive(): void {
    if (this.#isWanted && !this.#isEnding) this.#pushChunk(this.#source.framing.keepAlive);
  }

  /** Ends with a last message. Without effect when it has ended. */
  end(body: string, code: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.endCode = code;
    this.push(this.#source.framing.end(body));
    this.push(null);
  }

  #pushChunk(text: string): void {
    this.#isWanted = false;
    this.push(text);
  }

  #next(): StoreEvent | undefined {
    if (this.#ownIndex < this.#own.length) return this.#own[this.#ownIndex];
    const { feed } = this.#source;
    if (this.#number === undefined || !feed.has(this.#number)) this.#number = feed.numberAfter(this.#position);
    return this.#number === undefined ? undefined : feed.get(this.#number);
  }

  #advance({ position, salt }: StoreEvent): void {
    this.#written = undefined;
    this.#position = { position, salt };
    if (this.#ownIndex < this.#own.length) {
      this.#ownIndex += 1;
      if (this.#ownIndex === this.#own.length) this.#own = [];
    } else if (this.#number !== undefined) {
      this.#number += 1;
    }
  }

  /** Goes on when the text is written. */
  #wait(event: StoreEvent, written: Promise<string>): void {
    this.#isReading = true;
    const goOn = (text: string): void => {
      this.#isReading = false;
      this.#written = { event, text };
      this.send();
    };
    written.then(goOn, this.#source.onFailure);
  }

  /** Reads the events that the feed doesn't have any more. */
  #readOn(): void {
    const { feed, events, clientId, ticks, onFailure } = this.#source;
    const { losses } = feed;
    const isAhead = losses === this.#losses && feed.isAhead(this.#position);
    if (isAhead || performance.now() < this.#retryAt) return;
    this.#isReading = true;
    runAs(clientId, () => events.readAfter(this.#position, ownBatchSize)).then(
      ({ events: found }) => {
        this.#losses = losses;
        this.#own = within(maxOwnBytes, found);
        this.#ownIndex = 0;
        ticks.enter(clientId, () => {
          this.#isReading = false;
          if (found.length > 0) this.send();
        });
      },
      (error: unknown) => {
        this.#isReading = false;
        this.#retryAt = performance.now() + retryAfterMillis;
        onFailure(error);
      },
    );
  }
}

/** The first of the events, at least one, that take no more memory than this. */
function within(bytes: number, events: readonly StoreEvent[]): readonly StoreEvent[] {
  let left = bytes;
  const end = events.findIndex((event) => (left -= bytesOf(event)) < 0);
  return end === -1 ? events : events.slice(0, Math.max(1, end));
}
