import { randomUUID } from 'node:crypto';

import { attempt, every, inBackground } from '../background.ts';
import {
  type DeliveryEvent,
  type DisabledReason,
  type Endpoint,
  EndpointRun,
  type LogPosition,
  type Progress,
} from './endpoint-run.ts';
import type { Sender, SendResult } from './sender.ts';
import { signatureHeaders } from './signature.ts';

/** The endpoints, as several processes share them. */
export interface DeliveryStore<E extends Endpoint> {
  /**
   * Says that this process lives, renews its leases for 30 s, and takes and returns its part of what is free. Returns
   * the endpoints that it may send to.
   */
  lease(holderId: string): Promise<readonly E[]>;
  /** Returns the ids of those that were saved: the lease of the others is another process's. */
  save(progress: readonly Progress[]): Promise<readonly string[]>;
  /** The process ends: others may take its leases at once. */
  release(holderId: string): Promise<void>;
}

export interface DeliveryLog<E extends Endpoint> {
  /** At most so many events after a position, also those that the endpoint doesn't want; none at the end of the log. */
  readAfter(endpoint: E, position: LogPosition, limit: number): Promise<readonly DeliveryEvent[]>;
}

export interface DeliveriesOptions<E extends Endpoint> {
  readonly store: DeliveryStore<E>;
  readonly log: DeliveryLog<E>;
  readonly sender: Sender;
  readonly userAgent: string;
  /** Milliseconds since 1970, by the clock that the processes share. */
  readonly now: () => number;
  /** Resolves when work may begin in a tick of the event loop. */
  readonly enterTick: () => Promise<void>;
  /** Called after each attempt. Must not throw. */
  readonly onAttempt: (endpoint: E, result: SendResult) => void;
  readonly onFailing: (endpoint: E, result: SendResult) => void;
  readonly onRecovered: (endpoint: E) => void;
  readonly onDisabled: (endpoint: E, reason: DisabledReason) => void;
  /** Called when a statement fails that follows a successful one. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

const leaseMillis = 30_000;
const leaseEveryMillis = 1_000;
const saveEveryMillis = 300;
/** Positions that have passed nothing but unwanted events are saved so often. */
const savePositionsEveryMillis = 5_000;
const maxUnderWay = 64;
/** Under way to endpoints whose last attempt was no success. */
const maxUnhealthyUnderWay = 48;
/** An event whose receiver's address has too many requests under way is tried again after this time. */
const busyMillis = 250;
const maxReads = 4;
const maxReadEvents = 20;
/** Of events that wait in memory; an endpoint without any may always have one. */
const maxHeldBytes = 16 * 1024 * 1024;

/** Sends the events of a log to the endpoints that this process has leased. */
export class Deliveries<E extends Endpoint> {
  readonly #options: DeliveriesOptions<E>;
  readonly #holderId = randomUUID();
  #runs = new Map<string, EndpointRun<E>>();
  #underWay = 0;
  #unhealthyUnderWay = 0;
  #reads = 0;
  /** How often the log has had more. */
  #news = 0;
  #isScheduled = false;
  #leaseEndsAt = -Infinity;
  #positionsSavedAt = 0;
  readonly #timers: NodeJS.Timeout[] = [];
  #leasing: Promise<void> | undefined;
  #saving: Promise<void> | undefined;
  readonly #sending = new Set<Promise<void>>();
  #hasFailed = false;
  #isStopped = false;

  constructor(options: DeliveriesOptions<E>) {
    this.#options = options;
  }

  /** How old the oldest event is that an active endpoint of this process waits for. */
  get lagSeconds(): number {
    const active = [...this.#runs.values()].filter(({ state }) => state === 'active');
    const waits = active.map(({ waitsSince }) => waitsSince?.getTime() ?? Infinity);
    return Math.max(0, (this.#options.now() - Math.min(...waits, Infinity)) / 1_000);
  }

  start(): void {
    inBackground(this.#leaseNow());
    this.#timers.push(
      every(leaseEveryMillis, () => this.#leaseNow()),
      every(saveEveryMillis, () => this.#saveNow()),
    );
  }

  /** Endpoints have changed: this process does what they are now. Never rejects. */
  async heedChanges(): Promise<void> {
    // A round that is under way may have read what they were.
    await this.#leasing;
    await this.#leaseNow();
  }

  #leaseNow(): Promise<void> {
    this.#leasing ??= this.#lease().finally(() => {
      this.#leasing = undefined;
    });
    return this.#leasing;
  }

  /** The log has more. */
  wake(): void {
    this.#news += 1;
    for (const run of this.#runs.values()) run.isAtEnd = false;
    this.#sendSoon();
  }

  /** Begins nothing more, saves what has been done, and gives the leases back. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#leasing;
    await Promise.all(this.#sending);
    await this.#saving;
    await this.#save(true);
    await this.#options.store.release(this.#holderId).catch(() => undefined);
    this.#options.sender.close();
  }

  /** Never rejects. */
  async #lease(): Promise<void> {
    const startedAt = performance.now();
    try {
      const endpoints = await this.#options.store.lease(this.#holderId);
      this.#leaseEndsAt = startedAt + leaseMillis;
      this.#runs = this.#runsOf(endpoints);
      this.#hasFailed = false;
    } catch (error) {
      this.#report(error);
    }
    this.wake();
  }

  /**
   * Those that it had already keep their order. One that it isn't to send to any more stays until what is under way has
   * ended and is saved: its lease goes on until then.
   */
  #runsOf(endpoints: readonly E[]): Map<string, EndpointRun<E>> {
    const leased = new Map(endpoints.map((endpoint) => [endpoint.id, this.#runOf(endpoint)]));
    const ending = [...this.#runs].filter(([id, run]) => !leased.has(id) && run.end());
    const kept = [...this.#runs.keys()].filter((id) => leased.has(id));
    const runs = [...kept, ...leased.keys()].map((id) => [id, leased.get(id) as EndpointRun<E>] as const);
    return new Map([...runs, ...ending]);
  }

  #runOf(endpoint: E): EndpointRun<E> {
    const run = this.#runs.get(endpoint.id);
    if (run === undefined || run.endpoint.fence !== endpoint.fence) return new EndpointRun(endpoint);
    run.renew(endpoint);
    return run;
  }

  /** In the next tick of the event loop, once for all that has made something ready in this one. */
  #sendSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      attempt(() => this.#sendMore());
    });
  }

  /** Begins what may begin: one event of each endpoint, and again while there is more. */
  #sendMore(): void {
    for (let begun = true; begun;) {
      begun = false;
      const round = [...this.#runs.values()];
      for (const run of round) begun = this.#sendNext(run) || begun;
    }
  }

  #sendNext(run: EndpointRun<E>): boolean {
    if (this.#isStopped || performance.now() > this.#leaseEndsAt) return false;
    if (run.room > 0) this.#readSoon(run);
    const isFull = this.#underWay >= maxUnderWay || (!run.isHealthy && this.#unhealthyUnderWay >= maxUnhealthyUnderWay);
    const event = isFull ? undefined : run.next(this.#options.now());
    if (event === undefined) return false;
    this.#begin(run, event);
    // The endpoint is the last one in the next round.
    this.#runs.delete(run.endpoint.id);
    this.#runs.set(run.endpoint.id, run);
    return true;
  }

  #readSoon(run: EndpointRun<E>): void {
    if (this.#reads >= maxReads || (run.heldBytes > 0 && this.#heldBytes() > maxHeldBytes)) return;
    const limit = Math.min(run.room, maxReadEvents);
    this.#reads += 1;
    run.isReading = true;
    inBackground(
      this.#read(run, limit).finally(() => {
        this.#reads -= 1;
        run.isReading = false;
        this.#sendSoon();
      }),
    );
  }

  /** Never rejects. */
  async #read(run: EndpointRun<E>, limit: number): Promise<void> {
    const { log } = this.#options;
    const news = this.#news;
    try {
      const events = await log.readAfter(run.endpoint, run.readTo, limit);
      run.add(events);
      // The log has got more meanwhile.
      if (news !== this.#news) run.isAtEnd = false;
    } catch (error) {
      // Read again after the next round of leases.
      run.isAtEnd = true;
      this.#report(error);
    }
  }

  #heldBytes(): number {
    return [...this.#runs.values()].reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  }

  #begin(run: EndpointRun<E>, event: DeliveryEvent): void {
    const isUnhealthy = !run.isHealthy;
    run.begin(event);
    this.#underWay += 1;
    if (isUnhealthy) this.#unhealthyUnderWay += 1;
    const sending = this.#send(run, event).finally(() => {
      this.#sending.delete(sending);
      this.#underWay -= 1;
      if (isUnhealthy) this.#unhealthyUnderWay -= 1;
    });
    this.#sending.add(sending);
    inBackground(sending.then(() => this.#sendSoon()));
  }

  async #send(run: EndpointRun<E>, event: DeliveryEvent): Promise<void> {
    const { sender, userAgent, now, enterTick } = this.#options;
    await enterTick();
    const { url, secrets } = run.endpoint;
    const body = event.body();
    const signature = signatureHeaders(event.id, Math.floor(now() / 1_000), body, secrets());
    const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...signature };
    const result = await sender.send({ url, headers, body });
    if (result === 'busy') run.postpone(event, now() + busyMillis);
    else this.#finish(run, event, result);
  }

  #finish(run: EndpointRun<E>, event: DeliveryEvent, result: SendResult): void {
    const { onAttempt, onFailing, onRecovered, onDisabled, now } = this.#options;
    const before = run.state;
    run.finish(event, result, now());
    const { state, endpoint, disabled } = run;
    onAttempt(endpoint, result);
    if (state === before) return;
    if (disabled !== undefined) onDisabled(endpoint, disabled);
    else if (state === 'failing') onFailing(endpoint, result);
    else onRecovered(endpoint);
  }
  #saveNow(): void {
    const withPositions = performance.now() - this.#positionsSavedAt >= savePositionsEveryMillis;
    if (withPositions) this.#positionsSavedAt = performance.now();
    this.#saving ??= this.#save(withPositions).finally(() => {
      this.#saving = undefined;
    });
  }

  /** Never rejects. What another process has leased meanwhile is dropped: that process sends it again. */
  async #save(withPositions: boolean): Promise<void> {
    const taken = [...this.#runs.values()].flatMap((run) => {
      const progress = run.takeProgress(withPositions);
      return progress === undefined ? [] : [{ run, progress }];
    });
    if (taken.length === 0) return;
    try {
      const saved = new Set(await this.#options.store.save(taken.map(({ progress }) => progress)));
      for (const { run, progress } of taken) {
        if (saved.has(progress.id)) run.recordSaved(progress);
        else if (this.#runs.get(progress.id) === run) this.#runs.delete(progress.id);
      }
      this.#sendSoon();
    } catch (error) {
      for (const { run, progress } of taken) run.restore(progress);
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    if (!this.#hasFailed) this.#options.onFailure(error);
    this.#hasFailed = true;
  }
}
