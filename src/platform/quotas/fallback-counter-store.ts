import { setTimeout as wait } from 'node:timers/promises';

import type { BanRules } from './bans.ts';
import type { Charge, CounterStore, QuotaDecision, QuotaSubject } from './counter-store.ts';
import { decisionOf, type CounterDecision } from './counter.ts';
import { RemoteClock } from '../remote-clock.ts';
import { MemoryCounterStore, type CounterSnapshot } from './memory-counter-store.ts';

/** The shared counters can never be used. The message says what would be right. */
export class UnsuitableCounters extends Error {
  override readonly name = 'UnsuitableCounters';
}

/** Counters of several processes, over a connection that can be lost. */
export interface SharedCounters {
  /**
   * Restores `known` in counters that have lost it. Rejects when the counters can't be reached in time, or have been
   * emptied.
   */
  decide(subject: QuotaSubject, charge: Charge, known: CounterSnapshot): Promise<CounterDecision>;
  /** Their time when the connection was made. */
  readonly connectedAt: number;
  close(): void;
}

export interface FallbackCounterStoreOptions {
  /** Connects. Reports the loss of the connection, maybe more than once. */
  readonly connect: (onError: (error: unknown) => void) => Promise<SharedCounters>;
  readonly rules: BanRules;
  /** Called once when the shared counters are lost, with the reason, and once when they are back. */
  readonly onSharedChange: (isShared: boolean, reason?: unknown) => void;
  /** The bans of keys are instants of the database. */
  readonly databaseNow: () => number;
  /** The time of counters and database, for tests; undefined continues with that of the shared counters. */
  readonly now?: (() => number) | undefined;
}

const reconnectMillis = 500;

/**
 * Counts in shared counters, and in this process while they are lost: gone, paused, slow or emptied.
 *
 * Every shared decision is remembered, so that this process can continue from it, and restore it with the next request
 * after reconnecting.
 *
 * Windows are timed by the clock of the shared counters, which may differ from the database's. The ends of bans, which
 * the database keeps, are converted; their beginnings are only compared with one another, and stay as they are.
 */
export class FallbackCounterStore implements CounterStore {
  /** A local copy of the counters, used while the shared ones are lost. */
  readonly local: MemoryCounterStore;
  readonly #options: FallbackCounterStoreOptions;
  /** Undefined while it is lost. */
  #shared: SharedCounters | undefined;
  /** Of the shared counters: windows continue by the clock that opened them. */
  readonly #clock: RemoteClock;
  #lossReason: unknown;
  #isClosed = false;

  private constructor(options: FallbackCounterStoreOptions) {
    this.#options = options;
    this.#clock = new RemoteClock(options.databaseNow);
    const { rules, now = () => this.#clock.now() } = options;
    this.local = new MemoryCounterStore({ rules, now });
  }

  /**
   * Waits no longer than a connection may take; without one, counting begins in this process. Throws
   * UnsuitableCounters.
   */
  static async open(options: FallbackCounterStoreOptions): Promise<FallbackCounterStore> {
    const store = new FallbackCounterStore(options);
    try {
      store.#shared = await store.#connect();
    } catch (error) {
      if (error instanceof UnsuitableCounters) throw error;
      store.#lose(undefined, error);
    }
    return store;
  }

  /** Whether the counters are shared at the moment. */
  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  /** Why they were lost the last time. */
  get lossReason(): unknown {
    return this.#lossReason;
  }

  async decide(subject: QuotaSubject, charge: Charge): Promise<QuotaDecision> {
    const { now, databaseNow } = this.#options;
    const aheadMillis = now === undefined ? this.#clock.now() - databaseNow() : 0;
    const decision = await this.#decide(withBanLater(subject, aheadMillis), charge);
    if (decision.outcome !== 'banned' || decision.begun === undefined) return decision;
    return { ...decision, begun: { ...decision.begun, until: decision.begun.until - aheadMillis } };
  }

  async #decide(subject: QuotaSubject, charge: Charge): Promise<QuotaDecision> {
    const shared = this.#shared;
    if (shared === undefined) return this.local.decide(subject, charge);
    try {
      const askedAt = this.#clock.start();
      const decided = await shared.decide(subject, charge, this.local.snapshot(subject));
      this.#clock.record(decided.now, askedAt);
      this.local.restore(subject, decided);
      return decisionOf(decided, subject, charge);
    } catch (error) {
      this.#lose(shared, error);
      return this.local.decide(subject, charge);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#shared?.close();
    this.#shared = undefined;
  }

  async #connect(): Promise<SharedCounters> {
    const made: { connection?: SharedCounters } = {};
    const askedAt = this.#clock.start();
    made.connection = await this.#options.connect((error) => {
      // A connection that is still being made rejects instead.
      if (made.connection !== undefined) this.#lose(made.connection, error);
    });
    this.#clock.record(made.connection.connectedAt, askedAt);
    if (!this.#isClosed) return made.connection;
    made.connection.close();
    throw new Error('The counter store is closed.');
  }

  /** Closes the connection, and with it all decisions that wait on it. */
  #lose(shared: SharedCounters | undefined, reason: unknown): void {
    if (this.#isClosed || this.#shared !== shared) return;
    this.#shared = undefined;
    this.#lossReason = reason;
    shared?.close();
    this.#options.onSharedChange(false, reason);
    this.#recover().catch((error: unknown) => this.#options.onSharedChange(false, error));
  }

  async #recover(): Promise<void> {
    while (!this.#isClosed) {
      await wait(reconnectMillis, undefined, { ref: false });
      const shared = await this.#connect().catch(() => undefined);
      if (shared === undefined) continue;
      this.#shared = shared;
      this.#options.onSharedChange(true);
      return;
    }
  }
}

function withBanLater(subject: QuotaSubject, millis: number): QuotaSubject {
  const { bans } = subject;
  if (bans === undefined || bans.bannedUntil === 0) return subject;
  return { ...subject, bans: { ...bans, bannedUntil: bans.bannedUntil + millis } };
}
