import type { Writable } from 'node:stream';

import { every, inBackground } from '../background.ts';
import { Feed, type FeedOptions, type Position } from './feed.ts';
import { FeedStream, type StreamSource } from './stream.ts';

/*
 * The open streams of the process.
 *
 * Model. A stream is a position in the log (`FeedStream`). All of them share the recent events (`Feed`). One timer looks
 * after all of them: who holds them, keep-alives, charges, and the end of their life.
 *
 * Guarantees. With one stream or 2,000, one statement every 200 ms reads the log; without a stream there is neither a
 * statement nor a timer. A stream whose holder may not go on ends within a second. What a stream has sent is charged, in
 * one charge for all of a holder's streams; it never sends more than `maxOwed` units ahead of that. Whatever ends a
 * stream, its last message says why; only a connection that is lost has none.
 *
 * Failures. Without the database streams stay open, and go on from their positions when it is back.
 */

/** The last message of a stream: why it ends. */
export interface StreamEnd {
  readonly code: string;
  /** `{"errors":[…]}` */
  readonly body: string;
}

/** Who has streams, and pays for them. */
export interface StreamHolder {
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

export interface FeedStreamsOptions<Event extends Position> extends Omit<FeedOptions<Event>, 'onTick'> {
  readonly terms: StreamTerms;
  /** Why a stream ends that has lasted its time, and why all end when the service stops. */
  readonly lasted: () => StreamEnd;
  readonly draining: () => StreamEnd;
}

/** A stream that begins. */
export interface StreamBeginning<Event extends Position> extends Omit<
  StreamSource<Event>,
  'feed' | 'bytesOf' | 'mayGoOn' | 'onFailure' | 'onClose'
> {
  readonly holder: StreamHolder;
  /** Its head is written. */
  readonly output: Writable;
  readonly after: Position;
  /** Why a failure ends it; undefined where it goes on. */
  readonly endOf: (error: unknown) => StreamEnd | undefined;
  /** Called with the code of the last message; undefined when the client has ended it. */
  readonly onClose: (code: string | undefined) => void;
}

interface OpenStream<Event extends Position> {
  readonly stream: FeedStream<Event>;
  readonly holder: StreamHolder;
  readonly beganAt: number;
  readonly endsAt: number;
  keepAliveAt: number;
  /** Units, beside the opening. */
  paid: number;
  /** The last charge was refused. */
  isUnpaid: boolean;
}

const checkEveryMillis = 200;
/** The units that a stream may send between two charges. */
const maxOwed = 4;
/** How long a client may take to read the last message when the service stops. */
const drainMillis = 1_000;

export class FeedStreams<Event extends Position> {
  readonly #options: FeedStreamsOptions<Event>;
  readonly #feed: Feed<Event>;
  readonly #streams = new Set<OpenStream<Event>>();
  readonly #settling = new Set<StreamHolder>();
  #checking: NodeJS.Timeout | undefined;

  constructor(options: FeedStreamsOptions<Event>) {
    this.#options = options;
    this.#feed = new Feed({ ...options, onTick: () => this.#wakeAll() });
  }

  get count(): number {
    return this.#streams.size;
  }

  /** This process has added to the log. */
  readNow(): void {
    this.#feed.readNow();
  }

  /** Begins a stream; it has ended when its output is closed. */
  begin({ holder, output, after, endOf, onClose, ...source }: StreamBeginning<Event>): FeedStream<Event> {
    const { bytesOf, terms } = this.#options;
    const ports: StreamSource<Event> = {
      ...source,
      feed: this.#feed,
      bytesOf,
      mayGoOn: () => !open.isUnpaid && this.#owedBy(open) < maxOwed,
      onFailure: (error) => endWith(open, endOf(error)),
      onClose: () => {
        this.#streams.delete(open);
        if (this.#streams.size === 0) this.#stop();
        const owed = this.#owedBy(open);
        if (owed > 0 && !open.isUnpaid) inBackground(holder.charge(owed));
        onClose(open.stream.endCode);
      },
    };
    const now = performance.now();
    const open: OpenStream<Event> = {
      stream: new FeedStream(ports, output, after),
      holder,
      beganAt: now,
      // Those that begin together don't end together.
      endsAt: now + terms.lifeMillis * (0.9 + 0.2 * Math.random()),
      keepAliveAt: now + terms.keepAliveMillis,
      paid: 0,
      isUnpaid: false,
    };
    this.#streams.add(open);
    this.#feed.start();
    this.#checking ??= every(checkEveryMillis, () => this.#check());
    open.stream.begin();
    return open.stream;
  }

  /** Ends all streams. A client that doesn't read its last message in a second is disconnected. */
  async drain(): Promise<void> {
    const outputs = [...this.#streams].map(({ stream }) => stream.output);
    for (const each of this.#streams) endWith(each, this.#options.draining());
    const timeout = setTimeout(() => outputs.forEach((output) => output.destroy()), drainMillis);
    const open = outputs.filter(({ closed }) => !closed);
    await Promise.all(open.map((output) => new Promise((resolve) => output.once('close', resolve))));
    clearTimeout(timeout);
  }

  #stop(): void {
    this.#feed.stop();
    clearInterval(this.#checking);
    this.#checking = undefined;
  }

  #wakeAll(): void {
    for (const { stream } of this.#streams) stream.wake();
  }

  #check(): void {
    const now = performance.now();
    const byHolder = new Map<StreamHolder, OpenStream<Event>[]>();
    for (const open of this.#streams) {
      const others = byHolder.get(open.holder);
      if (others === undefined) byHolder.set(open.holder, [open]);
      else others.push(open);
      this.#checkTimes(open, now);
    }
    for (const [holder, streams] of byHolder) inBackground(this.#settle(holder, streams));
  }

  #checkTimes(open: OpenStream<Event>, now: number): void {
    if (now >= open.endsAt) return endWith(open, this.#options.lasted());
    if (now < open.keepAliveAt) return undefined;
    open.keepAliveAt = now + this.#options.terms.keepAliveMillis;
    return open.stream.keepAlive();
  }

  /** Ends what may not go on, and charges what has been sent since the last time. */
  async #settle(holder: StreamHolder, streams: readonly OpenStream<Event>[]): Promise<void> {
    if (this.#settling.has(holder)) return;
    this.#settling.add(holder);
    try {
      const end = await holder.findEnd();
      if (end === undefined) await this.#charge(holder, streams);
      else for (const open of streams) endWith(open, end);
    } finally {
      this.#settling.delete(holder);
    }
  }

  async #charge(holder: StreamHolder, streams: readonly OpenStream<Event>[]): Promise<void> {
    const charges = streams.map((open) => ({ open, units: this.#owedBy(open) })).filter(({ units }) => units > 0);
    // One that closes meanwhile isn't charged twice.
    for (const { open, units } of charges) open.paid += units;
    const total = charges.reduce((sum, { units }) => sum + units, 0);
    if (total === 0) return;
    const { spent, end } = await holder.charge(total);
    let left = spent;
    for (const { open, units } of charges) {
      const unpaid = Math.max(0, units - left);
      left -= units - unpaid;
      open.paid -= unpaid;
      open.isUnpaid = unpaid > 0;
      if (open.isUnpaid) endWith(open, end);
      else open.stream.wake();
    }
  }

  /** Time counts as it begins, events and bytes as they have been sent, whichever is more. */
  #owedBy({ stream: { sent, sentBytes }, beganAt, paid }: OpenStream<Event>): number {
    const { millisOfUnit, eventsOfUnit, bytesOfUnit } = this.#options.terms;
    const volume = Math.floor(Math.max(sent / eventsOfUnit, sentBytes / bytesOfUnit));
    return Math.floor((performance.now() - beganAt) / millisOfUnit) + Math.max(0, volume - 1) - paid;
  }
}

function endWith<Event extends Position>({ stream }: OpenStream<Event>, end: StreamEnd | undefined): void {
  if (end !== undefined) stream.end(end.body, end.code);
}
