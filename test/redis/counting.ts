import { FallbackCounterStore } from '../../src/platform/quotas/fallback-counter-store.ts';
import { connectRedisCounters, type RedisCountersOptions } from '../../src/platform/quotas/redis-counters.ts';
import type { BanRules } from '../../src/platform/quotas/bans.ts';
import type { QuotaSubject } from '../../src/platform/quotas/counter-store.ts';
import { atEnd } from '../support/at-end.ts';
import { keyOf, one } from '../platform/quotas/quota-subjects.ts';
import { until } from '../support/until.ts';

/** A time that passes when the test says so. */
export interface Clock {
  now: number;
}

interface CountingOptions {
  readonly rules?: BanRules;
  /** Redis' own time without it. */
  readonly clock?: Clock | undefined;
  /** Of the installation. */
  readonly id?: string;
}

/** Without bans, unless there are other rules. */
export function optionsFor(
  url: string,
  { rules = { banAfter: 0, banForSeconds: 1 }, clock, id = 'one' }: CountingOptions = {},
): RedisCountersOptions {
  return { url, prefix: `petstore:quota:${id}`, rules, now: clock && (() => clock.now) };
}

let lastId = 0;

/** The store of one process, with its reports that Redis was lost or found. */
export class Counting {
  readonly store: FallbackCounterStore;
  readonly #changes: boolean[];

  private constructor(store: FallbackCounterStore, changes: boolean[]) {
    this.store = store;
    this.#changes = changes;
  }

  static async open(url: string, of?: CountingOptions): Promise<Counting> {
    const changes: boolean[] = [];
    const options = optionsFor(url, of);
    const store = await FallbackCounterStore.open({
      ...options,
      databaseNow: Date.now,
      connect: (onError) => connectRedisCounters(options, onError),
      onSharedChange: (isShared) => void changes.push(isShared),
    });
    atEnd(() => store.close());
    return new Counting(store, changes);
  }

  /** Two processes of one installation. */
  static openTwo(url: string, of?: CountingOptions): Promise<[Counting, Counting]> {
    return Promise.all([Counting.open(url, of), Counting.open(url, of)]);
  }

  /** Whether Redis was shared after each change so far. */
  get changes(): readonly boolean[] {
    return [...this.#changes];
  }

  async shared(isShared: boolean): Promise<void> {
    await until(() => this.store.isShared === isShared, { maxMillis: 60_000, everyMillis: 5 });
  }

  /** How many of so many requests at once are admitted. */
  async admitted(requests: number, subject: QuotaSubject): Promise<number> {
    const decisions = await Promise.all(Array.from({ length: requests }, () => this.store.decide(subject, one)));
    return decisions.filter(({ outcome }) => outcome === 'admitted').length;
  }

  /** The outcomes of requests one after another, each of which comes so many milliseconds after the one before. */
  async outcomes(subject: QuotaSubject, clock: Clock, waits: readonly number[]): Promise<string[]> {
    const outcomes: string[] = [];
    for (const wait of waits) {
      clock.now += wait;
      outcomes.push((await this.store.decide(subject, one)).outcome);
    }
    return outcomes;
  }
}

/** The key of a client that no other test has. */
export function newKey(requestsPerMinute?: number, requestsPerDay?: number): QuotaSubject {
  lastId += 1;
  return keyOf(String(lastId), requestsPerMinute, requestsPerDay);
}
