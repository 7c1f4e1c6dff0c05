import { randomUUID } from 'node:crypto';

import { attempt, every, inBackground, SharedWork } from '../background.ts';
import { DeliverySlots, inOrder, partOf } from './delivery-slots.ts';
import type { Delivery } from './delivery.ts';
import type {
  DeliveryEvent,
  DeliveryLog,
  DeliveryStore,
  DisabledReason,
  Endpoint,
  Progress,
  SaveOutcome,
  SendResult,
} from './endpoint.ts';
import { EndpointRun } from './endpoint-run.ts';
import { LogReader } from './log-reader.ts';
import { type Outcome, outcomeOf } from './schedule.ts';

export interface DeliveriesOptions<E extends Endpoint> {
  /** By which the store knows this process: one that takes the place of another, which has ended, has its leases. */
  readonly holderId?: string | undefined;
  readonly store: DeliveryStore<E>;
  readonly log: DeliveryLog<E>;
  /** Within 15 s; `busy` when nothing was sent, because too many requests are under way to the receiver. */
  readonly send: (endpoint: E, event: DeliveryEvent) => Promise<SendResult | 'busy'>;
  /** Milliseconds since 1970, by the clock that the processes share. */
  readonly now: () => number;
  /** Called after each attempt. Must not throw. */
  readonly onAttempt: (outcome: Outcome) => void;
  readonly onFailing: (endpoint: E, result: SendResult) => void;
  readonly onRecovered: (endpoint: E) => void;
  readonly onDisabled: (endpoint: E, reason: DisabledReason) => void;
  /** Called when a statement fails that follows a successful one. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/** Of the 30 s of a lease so much is left when a round has been asked for: its renewal takes some rounds. */
const leaseMillis = 15_000;
const leaseEveryMillis = 1_000;
const saveEveryMillis = 300;
/** Positions that have passed nothing but unwanted events are saved so often. */
const savePositionsEveryMillis = 5_000;
/** An event whose receiver's address has too many requests under way is tried again after this time. */
const busyMillis = 250;

/** Sends the events of a log to the endpoints that this process has leased. */
export class Deliveries<E extends Endpoint> {
  readonly #options: DeliveriesOptions<E>;
  readonly holderId: string;
  #runs = new Map<string, EndpointRun<E>>();
  /** Whose lease is another one by now: what is still under way are attempts all the same. */
  readonly #lost = new Set<EndpointRun<E>>();
  readonly #slots = new DeliverySlots();
  /** Those that may have something to send, each in its turn. */
  readonly #ready = new Set<EndpointRun<E>>();
  readonly #reader: LogReader<E>;
  #isScheduled = false;
  #leaseEndsAt = -Infinity;
  #positionsSavedAt = 0;
  readonly #timers: NodeJS.Timeout[] = [];
  /** One statement follows another: two that change the same rows could wait for each other. */
  #statements: Promise<void> = Promise.resolve();
  readonly #leasing = new SharedWork(() => this.#inTurn(() => this.#lease()));
  readonly #saving = new SharedWork(() => this.#saveRound());
  readonly #sending = new Set<Promise<void>>();
  #hasFailed = false;
  #isStopped = false;

  constructor(options: DeliveriesOptions<E>) {
    this.#options = options;
    this.holderId = options.holderId ?? randomUUID();
    this.#reader = new LogReader({
      log: options.log,
      onRead: (run) => this.#sendSoon(run),
      onFailure: (error) => this.#report(error),
    });
  }

  /** How old the oldest event is that an endpoint of this process in that state waits for. */
  lagSeconds(state: 'active' | 'failing'): number {
    const waits = [...this.#runs.values()].map((run) => (run.state === state && run.waitsSince?.getTime()) || Infinity);
    return Math.max(0, (this.#options.now() - Math.min(...waits, Infinity)) / 1_000);
  }

  start(): void {
    inBackground(this.#leasing.run());
    this.#timers.push(
      every(leaseEveryMillis, () => this.#leasing.run()),
      every(saveEveryMillis, () => this.#saving.run()),
    );
  }

  /** Endpoints have changed: this process does what they are now. Never rejects. */
  applyChanges(): Promise<void> {
    return this.#leasing.runAnew();
  }

  #inTurn(statement: () => Promise<void>): Promise<void> {
    this.#statements = this.#statements.then(statement);
    return this.#statements;
  }

  /** The log has more. */
  wake(): void {
    this.#reader.recordNews();
    for (const run of this.#runs.values()) {
      run.isAtEnd = false;
      this.#sendSoon(run);
    }
  }

  /** Begins nothing more, saves what has been done, and gives the leases back. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#reader.stop();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#sending);
    await this.#inTurn(() => this.#save(true));
    await this.#options.store.release(this.holderId).catch(() => undefined);
  }

  /** Never rejects. */
  async #lease(): Promise<void> {
    // A change during the drain would keep the endpoints from the other processes.
    if (this.#isStopped) return;
    const startedAt = performance.now();
    try {
      const endpoints = await this.#options.store.lease(this.holderId);
      this.#leaseEndsAt = startedAt + leaseMillis;
      this.#runs = this.#runsOf(endpoints);
      this.#hasFailed = false;
    } catch (error) {
      this.#report(error);
    }
    this.wake();
  }

  /** One that it isn't to send to any more stays until what is under way has ended, and its lease is returned. */
  #runsOf(endpoints: readonly E[]): Map<string, EndpointRun<E>> {
    const leased = new Map(endpoints.map((endpoint) => [endpoint.id, this.#runOf(endpoint)]));
    const ending = [...this.#runs].filter(([id]) => !leased.has(id));
    for (const [, run] of ending) run.end();
    return new Map([...leased, ...ending]);
  }

  #runOf(endpoint: E): EndpointRun<E> {
    const run = this.#runs.get(endpoint.id);
    if (run?.endpoint.fence === endpoint.fence) {
      run.renew(endpoint);
      return run;
    }
    if (run !== undefined) this.#lose(run);
    return new EndpointRun(endpoint);
  }

  #lose(run: EndpointRun<E>): void {
    run.end();
    this.#lost.add(run);
  }

  /** In the next tick of the event loop, once for all that may have something to send in this one. */
  #sendSoon(run: EndpointRun<E>): void {
    this.#ready.add(run);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      attempt(() => this.#sendMore());
    });
  }

  /**
   * Begins what may begin: one event of each endpoint, and again while there is more, the endpoint first whose deliveries
   * have held slots for the shortest time. Nobody has more than an equal part of them while others want some.
   */
  #sendMore(): void {
    if (this.#isStopped || performance.now() > this.#leaseEndsAt) return;
    const wanting: EndpointRun<E>[] = [];
    const part = partOf(this.#runs.values());
    const order = inOrder(this.#ready, this.#runs.values());
    // One that begins something comes once more, after the others.
    for (let run = order.shift(); run !== undefined && this.#slots.isFree(2); run = order.shift()) {
      // Another process may have it by now.
      const isMine = this.#runs.get(run.endpoint.id) === run;
      if (isMine && run.wantsMore) wanting.push(run);
      const delivery = isMine ? run.next(this.#options.now(), part) : undefined;
      // One that waits for a slot stays ready.
      if (delivery === undefined) this.#ready.delete(run);
      else if (this.#slots.isFree(run.standing)) {
        this.#begin(run, delivery);
        order.push(run);
      }
    }
    if (wanting.length > 0) this.#reader.read(wanting, this.#heldBytes());
  }

  #heldBytes(): number {
    return [...this.#runs.values()].reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  }

  #begin(run: EndpointRun<E>, delivery: Delivery): void {
    const { standing } = run;
    run.begin(delivery);
    this.#slots.take(standing);
    const sending = this.#send(run, delivery).finally(() => {
      this.#sending.delete(sending);
      this.#slots.leave(standing);
    });
    this.#sending.add(sending);
    inBackground(sending.then(() => this.#sendSoon(run)));
  }

  async #send(run: EndpointRun<E>, delivery: Delivery): Promise<void> {
    const { send, now } = this.#options;
    const result = await send(run.endpoint, delivery.event);
    if (result === 'busy') {
      const from = now();
      run.postpone(delivery, { from, until: from + busyMillis });
      setTimeout(() => this.#sendSoon(run), busyMillis + 1).unref();
    } else {
      this.#finish(run, delivery, result);
    }
  }

  #finish(run: EndpointRun<E>, delivery: Delivery, result: SendResult): void {
    const { onAttempt, onFailing, onRecovered, onDisabled, now } = this.#options;
    const before = run.state;
    const outcome = outcomeOf(result.status);
    run.finish(delivery, outcome, result, now());
    const { state, endpoint, disabledReason } = run;
    onAttempt(outcome);
    if (state === before) return;
    if (disabledReason !== undefined) onDisabled(endpoint, disabledReason);
    else if (state === 'failing') onFailing(endpoint, result);
    else onRecovered(endpoint);
  }

  async #saveRound(): Promise<void> {
    const withPositions = performance.now() - this.#positionsSavedAt >= savePositionsEveryMillis;
    if (withPositions) this.#positionsSavedAt = performance.now();
    await this.#inTurn(() => this.#save(withPositions));
  }

  /**
   * Never rejects. An endpoint that was returned is dropped, and so is one that another process has leased meanwhile,
   * which sends again what isn't saved.
   */
  async #save(withPositions: boolean): Promise<void> {
    const taken = [...this.#runs.values(), ...this.#lost].flatMap((run) => {
      const progress = run.takeProgress(withPositions);
      return progress === undefined ? [] : [{ run, progress }];
    });
    if (taken.length === 0) return;
    try {
      const { store } = this.#options;
      // An endpoint may be there twice, with an earlier lease, too.
      const earlier = taken.filter(({ run }) => this.#lost.has(run));
      const current = taken.filter(({ run }) => !this.#lost.has(run));
      for (const part of [earlier, current]) {
        if (part.length === 0) continue;
        const outcomes = await store.save(part.map(({ progress }) => progress));
        for (const { run, progress } of part) this.#settle(run, progress, outcomes.get(progress.id));
      }
    } catch (error) {
      for (const { run, progress } of taken) run.restore(progress);
      this.#report(error);
    }
  }

  #settle(run: EndpointRun<E>, progress: Progress, outcome: SaveOutcome | undefined): void {
    if (outcome === 'locked') {
      run.restore(progress);
    } else if (outcome === 'saved' && !progress.isReturned) {
      run.recordSaved(progress);
      this.#sendSoon(run);
    } else {
      if (this.#runs.get(progress.id) === run) this.#runs.delete(progress.id);
      if (run.isIdle) this.#lost.delete(run);
      else this.#lose(run);
    }
  }

  #report(error: unknown): void {
    if (!this.#hasFailed) this.#options.onFailure(error);
    this.#hasFailed = true;
  }
}
