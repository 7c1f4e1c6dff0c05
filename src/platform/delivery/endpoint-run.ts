import { disabledAfterMillis, failureWait, maxRefusals, refusalWait } from './schedule.ts';
import type { SendFailure, SendResult } from './sender.ts';

/** A place in the log. */
export type LogPosition = string;

/** One event of the log, as an endpoint gets it. */
export interface DeliveryEvent {
  readonly id: string;
  /** The endpoint's position when this event and all before it are done. */
  readonly position: LogPosition;
  /**
   * Events of one subject are delivered in their order. One without a subject is delivered when all before it are done,
   * and before all later ones.
   */
  readonly subject: string | undefined;
  readonly at: Date;
  /** Whether the endpoint is sent it at all. */
  readonly isWanted: boolean;
  /** An estimate of its memory. */
  readonly bytes: number;
  readonly body: () => string;
}

/** Why an endpoint isn't sent anything for now. */
export interface Failing {
  /** Of failures since the last success. */
  readonly count: number;
  /** Milliseconds since 1970, by the shared clock, as is `nextAttemptAt`. */
  readonly since: number;
  /** Undefined when an event was refused since: the endpoint responds, but hasn't accepted anything. */
  readonly nextAttemptAt: number | undefined;
}

export type DisabledReason = 'GONE' | 'FAILED_FOR_DAYS';

/** An endpoint, as it was leased. */
export interface Endpoint {
  readonly id: string;
  /** Differs for each lease; what is saved with another one is refused. */
  readonly fence: string;
  readonly url: string;
  readonly maxInFlight: number;
  readonly position: LogPosition;
  readonly failing: Failing | undefined;
  /** Whether its last attempt was a success, or there was none yet. */
  readonly isHealthy: boolean;
  /** How often events after its position were refused, and when they are tried again. */
  readonly refusals: Readonly<Record<string, Refusals>>;
  /** With the newest first. */
  readonly secrets: () => readonly string[];
}

interface Refusals {
  readonly count: number;
  /** Null when the event isn't sent again. */
  readonly retryAt: number | null;
}

export interface Attempt {
  readonly eventId: string;
  readonly at: number;
  readonly status: number | undefined;
  readonly failure: SendFailure | undefined;
  readonly durationMillis: number;
  /** Set while the event is refused: how often, and when it is tried again; never when `retryAt` is undefined. */
  readonly refusals: { readonly count: number; readonly retryAt: number | undefined } | undefined;
}

/** The state of an endpoint, and its attempts since it was saved last. */
export interface Progress {
  readonly id: string;
  readonly fence: string;
  readonly position: LogPosition;
  readonly failing: Failing | undefined;
  readonly isHealthy: boolean;
  readonly disabled: DisabledReason | undefined;
  readonly attempts: readonly Attempt[];
}

interface Item {
  readonly event: DeliveryEvent;
  isDone: boolean;
  /** Monotonic time; undefined while it isn't under way. */
  startedAt: number | undefined;
  refusals: number;
  retryAt: number;
}

/** A killed process repeats no more deliveries of an endpoint than this. */
const maxAhead = 100;

/** One endpoint while this process has its lease: what of the log is done, what is under way, what is next. */
export class EndpointRun<E extends Endpoint> {
  #endpoint: E;
  #isEnding = false;
  /** The position up to which everything is done. */
  #position: LogPosition;
  /** After the saved position, in the order of the log. */
  readonly #items: Item[] = [];
  #readTo: LogPosition;
  #underWay = 0;
  #failing: Failing | undefined;
  /** Monotonic time of the last failure. */
  #failedAt = -Infinity;
  #isHealthy: boolean;
  #disabled: DisabledReason | undefined;
  #attempts: Attempt[] = [];
  #savedPosition: LogPosition;
  readonly #refusals: Endpoint['refusals'];
  #hasChanged = false;
  /** Whether the log had nothing more when it was read last. */
  isAtEnd = false;
  isReading = false;

  constructor(endpoint: E) {
    this.#endpoint = endpoint;
    this.#position = endpoint.position;
    this.#savedPosition = endpoint.position;
    this.#readTo = endpoint.position;
    this.#failing = endpoint.failing;
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

  /** Begins nothing more. False when nothing is under way and all is saved. */
  end(): boolean {
    this.#isEnding = true;
    return this.#underWay > 0 || this.#hasChanged;
  }

  get isHealthy(): boolean {
    return this.#isHealthy;
  }

  get state(): 'active' | 'failing' | 'disabled' {
    if (this.#disabled !== undefined) return 'disabled';
    return this.#failing === undefined ? 'active' : 'failing';
  }

  get disabled(): DisabledReason | undefined {
    return this.#disabled;
  }

  /** Where the log is read on. */
  get readTo(): LogPosition {
    return this.#readTo;
  }

  get heldBytes(): number {
    return this.#items.reduce((sum, { event, isDone }) => sum + (isDone ? 0 : event.bytes), 0);
  }

  /** The instant of the oldest event that isn't delivered; undefined when there is none. */
  get waitsSince(): Date | undefined {
    return this.#items.find(({ isDone }) => !isDone)?.event.at;
  }

  /** How many events it may be given. */
  get room(): number {
    if (this.isReading || this.isAtEnd || this.#isEnding || this.#disabled !== undefined) return 0;
    const isTried = this.#isHealthy && this.#failing === undefined;
    const waiting = this.#items.filter(({ isDone }) => !isDone).length;
    return isTried ? maxAhead - this.#items.length : 1 - waiting;
  }

  add(events: readonly DeliveryEvent[]): void {
    this.isAtEnd = events.length === 0;
    for (const event of events) {
      const { count = 0, retryAt = 0 } = this.#refusals[event.id] ?? {};
      const isDone = !event.isWanted || retryAt === null;
      this.#items.push({ event, isDone, startedAt: undefined, refusals: count, retryAt: retryAt ?? 0 });
      this.#readTo = event.position;
    }
    this.#advance();
  }

  /** The event that may be sent now. */
  next(now: number): DeliveryEvent | undefined {
    if (this.#isEnding || this.#disabled !== undefined) return undefined;
    if (this.#underWay >= this.#endpoint.maxInFlight) return undefined;
    const isFailing = this.#failing?.nextAttemptAt !== undefined;
    if (isFailing && (this.#underWay > 0 || now < (this.#failing?.nextAttemptAt ?? 0))) return undefined;
    const waiting = this.#items.filter(({ isDone }) => !isDone);
    const inOrder = isFailing || this.#endpoint.maxInFlight === 1;
    return firstReady(inOrder ? waiting.slice(0, 1) : waiting, now)?.event;
  }

  begin(event: DeliveryEvent): void {
    this.#itemOf(event).startedAt = performance.now();
    this.#underWay += 1;
  }

  /** Nothing was sent: the event may be tried at that time. */
  postpone(event: DeliveryEvent, retryAt: number): void {
    const item = this.#itemOf(event);
    item.startedAt = undefined;
    item.retryAt = retryAt;
    this.#underWay -= 1;
  }

  finish(event: DeliveryEvent, result: SendResult, now: number): void {
    const item = this.#itemOf(event);
    const startedAt = item.startedAt ?? 0;
    item.startedAt = undefined;
    this.#underWay -= 1;
    this.#isHealthy = result.outcome === 'delivered';
    if (result.outcome === 'delivered') this.#deliver(item, startedAt);
    else if (result.outcome === 'refused') this.#refuse(item, now);
    else this.#fail(result, startedAt, now);
    const { status, failure, durationMillis } = result;
    const refusals = result.outcome === 'refused' ? refusalsOf(item) : undefined;
    this.#attempts.push({ eventId: event.id, at: now, status, failure, durationMillis, refusals });
    this.#hasChanged = true;
    this.#advance();
  }

  /** The progress to save; undefined when nothing has happened. A position alone can wait. */
  takeProgress(withPosition: boolean): Progress | undefined {
    const hasMoved = this.#position !== this.#savedPosition;
    if (!this.#hasChanged && !(withPosition && hasMoved)) return undefined;
    const attempts = this.#attempts;
    this.#attempts = [];
    this.#hasChanged = false;
    const { id, fence } = this.#endpoint;
    return {
      id,
      fence,
      position: this.#position,
      failing: this.#failing,
      isHealthy: this.#isHealthy,
      disabled: this.#disabled,
      attempts,
    };
  }

  /** The progress is in the database. */
  recordSaved({ position }: Progress): void {
    this.#savedPosition = position;
    const count = this.#items.findIndex(({ event }) => event.position === position) + 1;
    this.#items.splice(0, count);
  }

  /** The progress could not be saved: it is part of the next one. */
  restore({ attempts }: Progress): void {
    this.#attempts = [...attempts, ...this.#attempts].slice(-maxAhead);
    this.#hasChanged = true;
  }

  #deliver(item: Item, startedAt: number): void {
    item.isDone = true;
    if (startedAt > this.#failedAt) this.#failing = undefined;
  }

  #refuse(item: Item, now: number): void {
    item.refusals += 1;
    item.isDone = item.refusals >= maxRefusals;
    item.retryAt = now + refusalWait(item.refusals);
    if (this.#failing !== undefined) this.#failing = { ...this.#failing, nextAttemptAt: undefined };
  }

  /** Several requests that were under way together fail as one. */
  #fail({ outcome, retryAfterMillis }: SendResult, startedAt: number, now: number): void {
    const { count = 0, since = now } = this.#failing ?? {};
    if (startedAt > this.#failedAt) {
      const nextAttemptAt = now + failureWait(count + 1, retryAfterMillis);
      this.#failing = { count: count + 1, since, nextAttemptAt };
      this.#failedAt = performance.now();
    }
    if (outcome === 'gone') this.#disabled = 'GONE';
    else if (now - since >= disabledAfterMillis) this.#disabled = 'FAILED_FOR_DAYS';
  }

  #advance(): void {
    const firstWaiting = this.#items.findIndex(({ isDone }) => !isDone);
    const last = this.#items[(firstWaiting === -1 ? this.#items.length : firstWaiting) - 1];
    if (last !== undefined) this.#position = last.event.position;
  }

  #itemOf(event: DeliveryEvent): Item {
    const item = this.#items.find((each) => each.event === event);
    if (item === undefined) throw new Error(`${event.id} is not among the events of endpoint ${this.#endpoint.id}.`);
    return item;
  }
}

/** The first that doesn't wait for an earlier one of its subject. */
function firstReady(waiting: readonly Item[], now: number): Item | undefined {
  const blocked = new Set<string>();
  for (const [index, item] of waiting.entries()) {
    const { subject } = item.event;
    const isReady = item.startedAt === undefined && item.retryAt <= now;
    if (subject === undefined) return index === 0 && isReady ? item : undefined;
    if (isReady && !blocked.has(subject)) return item;
    blocked.add(subject);
  }
  return undefined;
}

function refusalsOf({ refusals, isDone, retryAt }: Item): Attempt['refusals'] {
  return { count: refusals, retryAt: isDone ? undefined : retryAt };
}
