import { type Delivery, firstReady } from './delivery.ts';
import type {
  Attempt,
  DeliveryEvent,
  DisabledReason,
  Endpoint,
  LogPosition,
  Progress,
  SendResult,
} from './endpoint.ts';
import { Failures } from './failures.ts';
import { maxRefusals, type Outcome, refusalWait, type Wait } from './schedule.ts';

/** A killed process repeats no more deliveries of an endpoint than this. */
const maxAhead = 100;

/** An endpoint that takes longer to respond is slow. */
const slowMillis = 2_000;

/** Nobody knows whether an endpoint still responds that hasn't for so long. */
const idleMillis = 10_000;

/** What is known of an endpoint: its last attempt has failed or was slow, was long ago, or was a success just now. */
export type Standing = 0 | 1 | 2;

/** One endpoint while this process has its lease: what of the log is done, what is under way, what is next. */
export class EndpointRun<E extends Endpoint> {
  #endpoint: E;
  #isEnding = false;
  /** The position up to which everything is done. */
  #position: LogPosition;
  #savedPosition: LogPosition;
  /** Wanted events after the position, in the order of the log; the first one isn't done. */
  #deliveries: Delivery[] = [];
  /** How many deliveries lie between the saved position and the position, and how many of them are being saved. */
  #unsaved = 0;
  #saving = 0;
  #readTo: LogPosition;
  #heldBytes = 0;
  #underWay = 0;
  readonly #failures: Failures;
  #isHealthy: boolean;
  #isSlow = false;
  /** How many deliveries may be under way: one more after each quick success, one after anything else. */
  #window = 1;
  /** How long deliveries that have ended held their slots; and the sum of the moments at which the others began. */
  #heldMillis = 0;
  #begunSum = 0;
  /** Monotonic time. */
  #finishedAt = -Infinity;
  #attempts: Attempt[] = [];
  #hasChanged = false;
  readonly #refusals: Endpoint['refusals'];
  /** Whether the log had nothing more when it was read last. */
  isAtEnd = false;
  isReading = false;

  constructor(endpoint: E) {
    this.#endpoint = endpoint;
    this.#position = endpoint.position;
    this.#savedPosition = endpoint.position;
    this.#readTo = endpoint.position;
    this.#failures = new Failures(endpoint);
    this.#isHealthy = endpoint.isHealthy;
    this.#refusals = endpoint.refusals;
  }

  get endpoint(): E {
    return this.#endpoint;
  }

  /** Its lease was renewed, and it may have other settings. */
  renew(endpoint: E): void {
    this.#endpoint = endpoint;
    this.#isEnding = false;
  }

  /** Begins nothing more; its lease is returned when what is under way has ended. */
  end(): void {
    this.#isEnding = true;
    this.#hasChanged = true;
  }

  get standing(): Standing {
    if (!this.#isHealthy || this.#isSlow) return 0;
    return performance.now() - this.#finishedAt > idleMillis ? 1 : 2;
  }

  get state(): Failures['state'] {
    return this.#failures.state;
  }

  get disabledReason(): DisabledReason | undefined {
    return this.#failures.disabledReason;
  }

  /** Where the log is read on. */
  get readTo(): LogPosition {
    return this.#readTo;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The instant of the oldest event that isn't delivered; undefined when there is none. */
  get waitsSince(): Date | undefined {
    return this.#deliveries[0]?.event.at;
  }

  get wantsMore(): boolean {
    return !this.isReading && !this.isAtEnd && this.#maySend && this.#room > 0;
  }

  get #maySend(): boolean {
    return !this.#isEnding && this.state !== 'disabled';
  }

  /** How many wanted events it may be given; one beside those that it has refused, while it accepts none. */
  get #room(): number {
    const room = maxAhead - this.#unsaved - this.#deliveries.length;
    if (this.#isHealthy && this.state === 'active') return room;
    const isWaiting = this.#deliveries.some(({ isDone, refusals }) => !isDone && refusals === 0);
    return isWaiting ? 0 : Math.min(room, 1);
  }

  /** Takes the next events of the log, as many as there is room for. */
  add(events: readonly DeliveryEvent[]): void {
    this.isAtEnd = events.length === 0;
    let room = this.#room;
    for (const event of events) {
      const { count = 0, wait } = this.#refusals[event.id] ?? {};
      if (!event.isWanted || wait === null) this.#pass(event.position);
      else if (room === 0) return;
      else {
        const { position, bytes } = event;
        this.#deliveries.push({ event, position, isDone: false, startedAt: undefined, refusals: count, wait });
        this.#heldBytes += bytes;
        room -= 1;
      }
      this.#readTo = event.position;
    }
  }

  /** How long its deliveries have held slots, those under way until now. */
  get heldMillis(): number {
    return this.#heldMillis + this.#underWay * performance.now() - this.#begunSum;
  }

  /** While nothing of it is under way it saves up no time: it enters at the least of the others. */
  enter(leastMillis: number): void {
    if (this.isIdle) this.#heldMillis = Math.max(this.#heldMillis, leastMillis);
  }

  /** The event that may be sent now; `part` of the slots is what the endpoint may have while others want some, too. */
  next(now: number, part = Infinity): Delivery | undefined {
    // One that may have died meanwhile is tried by one request.
    const isKnown = !this.#failures.hasWait && this.standing !== 1;
    const maxInFlight = isKnown ? Math.min(this.#endpoint.maxInFlight, this.#window, part) : 1;
    if (!this.#maySend || this.#underWay >= maxInFlight || !this.#failures.isOver(now)) return undefined;
    return firstReady(this.#endpoint.maxInFlight === 1 ? this.#deliveries.slice(0, 1) : this.#deliveries, now);
  }

  begin(delivery: Delivery): void {
    delivery.startedAt = performance.now();
    this.#begunSum += delivery.startedAt;
    this.#underWay += 1;
  }

  /** Nothing was sent: the event may be tried after that. */
  postpone(delivery: Delivery, wait: Wait): void {
    this.#leaveSlot(delivery);
    delivery.wait = wait;
  }

  #leaveSlot(delivery: Delivery): void {
    const { startedAt = 0 } = delivery;
    delivery.startedAt = undefined;
    this.#heldMillis += performance.now() - startedAt;
    this.#begunSum -= startedAt;
    this.#underWay -= 1;
  }

  finish(delivery: Delivery, outcome: Outcome, result: SendResult, now: number): void {
    const { startedAt = 0, event } = delivery;
    const { retryAfterMillis, ...what } = result;
    this.#leaveSlot(delivery);
    this.#isHealthy = outcome === 'delivered';
    this.#isSlow = what.durationMillis > slowMillis;
    if (outcome === 'failed' || outcome === 'gone' || this.#isSlow) this.#window = 1;
    // A refusal of an event says nothing about the next one.
    else if (outcome === 'delivered') this.#window += 1;
    this.#finishedAt = performance.now();
    if (outcome === 'delivered') this.#deliver(delivery, startedAt);
    else if (outcome === 'refused') this.#refuse(delivery, now);
    else this.#failures.add(startedAt, now, retryAfterMillis, outcome === 'gone');
    const refusals = outcome === 'refused' ? delivery.refusals : undefined;
    this.#attempts.push({ eventId: event.id, at: new Date(now), ...what, refusals });
    this.#hasChanged = true;
    this.#advance();
  }

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  /** The progress to save; undefined when nothing has happened. A position alone can wait. */
  takeProgress(withPosition: boolean): Progress | undefined {
    const hasMoved = this.#position !== this.#savedPosition;
    if (!this.#hasChanged && !(withPosition && hasMoved)) return undefined;
    const attempts = this.#attempts;
    this.#attempts = [];
    this.#hasChanged = false;
    this.#saving = this.#unsaved;
    const { id, fence } = this.#endpoint;
    return {
      id,
      fence,
      position: this.#position,
      ...this.#failures.stored(),
      isHealthy: this.#isHealthy,
      disabledReason: this.disabledReason,
      refusals: this.#refused(),
      attempts,
      isReturned: this.#isEnding && this.#underWay === 0,
    };
  }

  /** The progress is in the database. */
  recordSaved({ position }: Progress): void {
    this.#savedPosition = position;
    this.#unsaved -= this.#saving;
  }

  /** The progress could not be saved: it is part of the next one. */
  restore({ attempts }: Progress): void {
    this.#attempts = [...attempts, ...this.#attempts].slice(-maxAhead);
    this.#hasChanged = true;
  }

  #deliver(delivery: Delivery, startedAt: number): void {
    delivery.isDone = true;
    this.#failures.end(startedAt);
  }

  #refuse(delivery: Delivery, now: number): void {
    delivery.refusals += 1;
    delivery.isDone = delivery.refusals >= maxRefusals;
    delivery.wait = { from: now, until: now + refusalWait(delivery.refusals) };
    this.#failures.endWait();
  }

  /** Those after the position. */
  #refused(): Endpoint['refusals'] {
    const refused = this.#deliveries.filter(({ refusals }) => refusals > 0);
    return Object.fromEntries(
      refused.map(({ event, refusals, isDone, wait }) => [
        event.id,
        { count: refusals, wait: isDone ? null : (wait ?? { from: 0, until: 0 }) },
      ]),
    );
  }

  /** An event that isn't sent is done with the one before it. */
  #pass(position: LogPosition): void {
    const last = this.#deliveries.at(-1);
    if (last === undefined) this.#position = position;
    else last.position = position;
  }

  #advance(): void {
    const firstWaiting = this.#deliveries.findIndex(({ isDone }) => !isDone);
    const done = this.#deliveries.splice(0, firstWaiting === -1 ? this.#deliveries.length : firstWaiting);
    for (const { event } of done) this.#heldBytes -= event.bytes;
    this.#unsaved += done.length;
    this.#position = done.at(-1)?.position ?? this.#position;
  }
}
