import { every, inBackground } from '../background.ts';
import { Feed, type FeedOptions, type Positioned } from './feed.ts';
import { FeedStream, type StreamEnd, type StreamOptions, type StreamSource, type Subscriber } from './stream.ts';

export interface FeedStreamsOptions<Event extends Positioned>
  extends Omit<FeedOptions<Event>, 'onTick'>, StreamOptions<Event> {
  /** Why a stream ends that has lasted its time, and why all end when the service stops. */
  readonly lasted: () => StreamEnd;
  readonly draining: () => StreamEnd;
}

const checkEveryMillis = 200;
/** How long a client may take to read the last message when the service stops. */
const drainMillis = 1_000;

/** The open streams of the process. One timer looks after all of them: times, subscribers and charges. */
export class FeedStreams<Event extends Positioned> {
  readonly #options: FeedStreamsOptions<Event>;
  /** While there are streams. */
  #feed: Feed<Event> | undefined;
  readonly #streams = new Set<FeedStream<Event>>();
  readonly #settling = new Set<Subscriber>();
  #checking: NodeJS.Timeout | undefined;

  constructor(options: FeedStreamsOptions<Event>) {
    this.#options = options;
  }

  get count(): number {
    return this.#streams.size;
  }

  /** This process has added to the log. */
  readNow(): void {
    this.#feed?.readNow();
  }

  /** Begins a stream; it has ended when its output is closed. */
  begin(source: StreamSource<Event>): FeedStream<Event> {
    this.#feed ??= new Feed({ ...this.#options, onTick: () => this.#wakeAll() });
    const stream = new FeedStream(source, this.#feed, this.#options);
    this.#streams.add(stream);
    this.#checking ??= every(checkEveryMillis, () => this.#check());
    stream.begin(() => this.#remove(stream));
    return stream;
  }

  /** Ends all streams. A client that doesn't read its last message in a second is disconnected. */
  async drain(): Promise<void> {
    const outputs = [...this.#streams].map(({ source }) => source.output);
    for (const stream of this.#streams) stream.end(this.#options.draining());
    const timeout = setTimeout(() => outputs.forEach((output) => output.destroy()), drainMillis);
    const open = outputs.filter(({ closed }) => !closed);
    await Promise.all(open.map((output) => new Promise((resolve) => output.once('close', resolve))));
    clearTimeout(timeout);
  }

  #wakeAll(): void {
    for (const stream of this.#streams) stream.wake();
  }

  #remove(stream: FeedStream<Event>): void {
    const { owed, isUnpaid, endCode, source } = stream;
    this.#streams.delete(stream);
    if (this.#streams.size === 0) {
      this.#feed?.stop();
      this.#feed = undefined;
      clearInterval(this.#checking);
      this.#checking = undefined;
    }
    if (owed > 0 && !isUnpaid) inBackground(source.subscriber.charge(owed));
    source.onClose(endCode);
  }

  #check(): void {
    for (const stream of this.#streams) stream.checkTimes(this.#options.lasted);
    const bySubscriber = Map.groupBy(this.#streams, ({ source }) => source.subscriber);
    for (const [subscriber, streams] of bySubscriber) inBackground(this.#settle(subscriber, streams));
  }

  /** Ends what may not go on, and charges what has been sent since the last time. */
  async #settle(subscriber: Subscriber, streams: readonly FeedStream<Event>[]): Promise<void> {
    if (this.#settling.has(subscriber)) return;
    this.#settling.add(subscriber);
    try {
      const end = await subscriber.findEnd();
      if (end === undefined) await this.#charge(subscriber, streams);
      else for (const stream of streams) stream.end(end);
    } finally {
      this.#settling.delete(subscriber);
    }
  }

  async #charge(subscriber: Subscriber, streams: readonly FeedStream<Event>[]): Promise<void> {
    const charges = streams.map((stream) => ({ stream, units: stream.owed })).filter(({ units }) => units > 0);
    // A stream that closes meanwhile isn't charged twice.
    for (const { stream, units } of charges) stream.paid += units;
    const total = charges.reduce((sum, { units }) => sum + units, 0);
    if (total === 0) return;
    const { spent, end } = await subscriber.charge(total);
    let left = spent;
    for (const { stream, units } of charges) {
      const unpaid = Math.max(0, units - left);
      left -= units - unpaid;
      stream.paid -= unpaid;
      stream.isUnpaid = unpaid > 0;
      if (stream.isUnpaid) stream.end(end);
      else stream.wake();
    }
  }
}
