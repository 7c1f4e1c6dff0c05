import { service, type Accounts } from '../../account/accounts.ts';
import { Share, type Lease } from '../../account/share.ts';
import type { TickTime } from '../../account/tick-time.ts';
import { inBackground } from '../../background.ts';
import { runAsService } from '../../domain/access/current-request.ts';
import { maxEventStreams, type PlanName, planNames } from '../../domain/access/plan.ts';
import type { Principal } from '../../domain/access/principal.ts';
import { isUnavailable } from '../../domain/errors.ts';
import { EventFeed } from './event-feed.ts';
import type { EventPredicate } from '../../domain/events/event-filter.ts';
import type { EventService } from '../../domain/events/event.service.ts';
import type { EventStore } from '../../domain/events/event.store.ts';
import type { EventPosition } from '../../domain/events/event.ts';
import type { OnRefusal } from '../../http/bounds/bounds.ts';
import { describeFailure, type HttpError } from '../../http/error-table.ts';
import { asGraphQLError } from '../pipeline/errors.ts';
import { refusalResponse } from '../pipeline/response.ts';
import { EventStream } from './event-stream.ts';
import type { Framing } from './framing.ts';
import { KeyHolder, type KeyChecks } from './key-holders.ts';
import { draining, lastedLong, tooMany } from './stream-endings.ts';
import { StreamTexts, type StreamOperation } from './stream-selection.ts';

/*
 * The open event streams of the process.
 *
 * Model. A stream is a position in the log (`EventStream`). All of them share the recent events (`EventFeed`), and
 * those with the same selection the text of each event (`StreamTexts`). One timer looks after all of them: keys,
 * keep-alives, charges, and the end of an hour.
 *
 * Guarantees. With one stream or 2,000, one statement every 200 ms reads the log; without a stream there is neither a
 * statement nor a timer. A stream whose key is revoked, expired, rotated or banned ends within a second. Whatever ends
 * a stream, its last message says why; only a connection that is lost has none.
 *
 * Failures. Without the database streams stay open, and go on from their positions when it is back.
 */

/** The times of streams. Tests lower them. */
export interface StreamTimes {
  readonly keepAliveMillis: number;
  readonly chargeMillis: number;
  readonly lifeMillis: number;
}

const defaultTimes: StreamTimes = { keepAliveMillis: 15_000, chargeMillis: 5 * 60_000, lifeMillis: 60 * 60_000 };

export interface EventStreamsOptions extends KeyChecks {
  readonly events: Pick<EventService, 'readAfter'>;
  readonly log: Pick<EventStore, 'last' | 'readAfter'>;
  readonly accounts: Accounts;
  readonly ticks: TickTime;
  readonly maxStreams: number;
  readonly onRefusal: OnRefusal;
  /** Called when the log can't be read for a reason besides a lost database, once until that has passed. */
  readonly onFeedFailure: (error: unknown) => void;
  readonly times?: Partial<StreamTimes> | undefined;
}

/** A stream that a request opens. */
export interface StreamOpening {
  readonly key: string;
  readonly principal: Principal;
  readonly operation: StreamOperation;
  readonly matches: EventPredicate | undefined;
  /** Without one it begins with the next event. */
  readonly after: EventPosition | undefined;
  readonly framing: Framing;
  /** Called when there are too many streams. What it throws is the refusal instead. */
  readonly onTooMany: () => Promise<void>;
  /** Called with the code of the last message, unless the client has ended the stream. */
  readonly onEnd: (code: string) => void;
  /** Called for an error that isn't the client's. */
  readonly onError: (error: unknown) => void;
}

interface OpenStream {
  readonly stream: EventStream;
  readonly holder: KeyHolder;
  readonly endsAt: number;
  keepAliveAt: number;
  chargeAt: number;
}

const checkEveryMillis = 200;
const streamsOfPiece = 16;
/** The next charge is tried after so long when the minute's window has refused it. */
const chargeAgainMillis = 1_000;
/** How long a client may take to read the last message when the service stops. */
const drainMillis = 1_000;

export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #times: StreamTimes;
  readonly #feed: EventFeed;
  readonly #texts = new StreamTexts();
  readonly #ofAll: Share;
  readonly #ofPlans: Readonly<Record<PlanName, Share>>;
  readonly #streams = new Set<OpenStream>();
  #checking: NodeJS.Timeout | undefined;
  #isSending = false;
  #isDraining = false;

  constructor(options: EventStreamsOptions) {
    const { log, accounts, maxStreams, onFeedFailure, times } = options;
    this.#options = options;
    this.#times = { ...defaultTimes, ...times };
    this.#feed = new EventFeed({ log, onTick: () => this.#sendAll(), onFailure: onFeedFailure });
    const share = (ofClient: number, ofAll: number): Share =>
      new Share(accounts, { ofClient, ofAll, refuse: (refusal, held) => this.#refusalOf(refusal === 'client', held) });
    this.#ofAll = share(Infinity, maxStreams);
    const ofPlans = planNames.map((plan) => [plan, share(maxEventStreams[plan], Infinity)] as const);
    this.#ofPlans = Object.fromEntries(ofPlans) as Record<PlanName, Share>;
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Opens a stream. Throws EVENTS_GONE, RATE_LIMITED or UNAVAILABLE, or what `onTooMany` throws. */
  async open(opening: StreamOpening): Promise<EventStream> {
    if (this.#isDraining) throw draining();
    const { log, events } = this.#options;
    if (opening.after !== undefined) await events.readAfter(opening.after, 1);
    const after = opening.after ?? (await log.last());
    if (this.#isDraining) throw draining();
    let leases: readonly Lease[];
    try {
      leases = this.#acquire(opening.principal);
    } catch (refusal) {
      await opening.onTooMany();
      throw refusal;
    }
    try {
      return this.#begin(opening, after, leases);
    } catch (error) {
      for (const lease of leases) lease.release();
      throw error;
    }
  }

  /** This process has added to the log. */
  readNow(): void {
    this.#feed.readNow();
  }

  /** From now on openings are refused. */
  refuseOpenings(): void {
    this.#isDraining = true;
  }

  /** Ends all streams. A client that doesn't read its last message in a second is disconnected. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const open = [...this.#streams];
    for (const each of open) endWith(each, draining());
    if (open.length === 0) return;
    await new Promise<void>((resolve) => {
      const timeout = setTimeout(end, drainMillis);
      const waiting = new Set(open.map(({ stream }) => stream).filter(({ destroyed }) => !destroyed));
      for (const stream of waiting) {
        stream.once('close', () => {
          waiting.delete(stream);
          if (waiting.size === 0) end();
        });
      }
      function end(): void {
        clearTimeout(timeout);
        for (const stream of waiting) stream.destroy();
        resolve();
      }
    });
  }

  #acquire({ id, plan }: Principal): readonly Lease[] {
    const ofKey = this.#ofPlans[plan].takeNow(id);
    try {
      return [ofKey, this.#ofAll.takeNow(id)];
    } catch (error) {
      ofKey.release();
      throw error;
    }
  }

  #begin(opening: StreamOpening, after: EventPosition, leases: readonly Lease[]): EventStream {
    const { key, principal, operation, matches, framing, onEnd, onError } = opening;
    const { events, ticks } = this.#options;
    const selection = this.#texts.acquire(operation);
    const onClose = (): void => {
      this.#streams.delete(open);
      this.#texts.release(selection);
      for (const lease of leases) lease.release();
      if (this.#streams.size === 0) this.#stop();
      if (stream.endCode !== undefined) onEnd(stream.endCode);
    };
    const onFailure = (error: unknown): void => {
      if (isUnavailable(error)) return;
      if (describeFailure(error).logLevel === 'error') onError(error);
      endWith(open, error);
    };
    const source = { feed: this.#feed, events, clientId: principal.id, ticks, selection, matches, framing };
    const stream = new EventStream({ ...source, onFailure, onClose }, after);
    const now = performance.now();
    const open: OpenStream = {
      stream,
      holder: this.#holderOf(key) ?? new KeyHolder(this.#options, key, principal),
      // Those that begin together don't end together.
      endsAt: now + this.#times.lifeMillis * (0.9 + 0.2 * Math.random()),
      keepAliveAt: now + this.#times.keepAliveMillis,
      chargeAt: now + this.#times.chargeMillis,
    };
    this.#streams.add(open);
    this.#start();
    return stream;
  }

  /** That of the streams which the key has already. */
  #holderOf(key: string): KeyHolder | undefined {
    for (const { holder } of this.#streams) if (holder.key === key) return holder;
    return undefined;
  }

  #start(): void {
    // Not in the context of the request that happens to be the first.
    runAsService(() => {
      this.#feed.start();
      this.#checking ??= setInterval(() => this.#check(), checkEveryMillis).unref();
    });
  }

  #stop(): void {
    this.#feed.stop();
    clearInterval(this.#checking);
    this.#checking = undefined;
  }

  /** In pieces, so that other requests go on: Node writes to the sockets of one before the next begins. */
  #sendAll(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    const { ticks } = this.#options;
    const streams = this.#streams.values();
    const sendSome = (): void => {
      for (let count = 0; count === 0 || (count < streamsOfPiece && ticks.hasTime(performance.now())); count += 1) {
        const next = streams.next();
        if (next.done === true) {
          this.#isSending = false;
          return;
        }
        next.value.stream.send();
      }
      ticks.wait(service, sendSome);
    };
    ticks.enter(service, sendSome);
  }

  #check(): void {
    const now = performance.now();
    const holders = new Map<KeyHolder, OpenStream[]>();
    for (const open of this.#streams) {
      const ofHolder = holders.get(open.holder);
      if (ofHolder === undefined) holders.set(open.holder, [open]);
      else ofHolder.push(open);
      this.#checkTimes(open, now);
    }
    for (const [holder, streams] of holders) {
      inBackground(holder.findEnd().then((reason) => endAll(streams, reason)));
    }
  }

  #checkTimes(open: OpenStream, now: number): void {
    if (now >= open.endsAt) return endWith(open, lastedLong());
    if (now >= open.keepAliveAt) {
      open.keepAliveAt = now + this.#times.keepAliveMillis;
      open.stream.keepAlive();
    }
    if (now < open.chargeAt) return undefined;
    open.chargeAt = Infinity;
    const charged = open.holder.charge().then((result) => {
      if (result === 'charged') open.chargeAt = now + this.#times.chargeMillis;
      else if (result === 'waits') open.chargeAt = performance.now() + chargeAgainMillis;
      else endWith(open, result);
    });
    inBackground(charged);
    return undefined;
  }

  #refusalOf(isOfKey: boolean, held: number): HttpError {
    this.#options.onRefusal('event_streams');
    return tooMany(isOfKey, held);
  }
}

function endAll(streams: readonly OpenStream[], reason: HttpError | undefined): void {
  if (reason !== undefined) for (const open of streams) endWith(open, reason);
}

function endWith({ stream }: OpenStream, reason: unknown): void {
  const { body, codes } = refusalResponse(asGraphQLError(reason));
  stream.end(body.trimEnd(), codes[0] ?? 'INTERNAL_SERVER_ERROR');
}
