import { FallbackCounterStore } from '../../src/platform/quotas/fallback-counter-store.ts';
import { connectRedisCounters } from '../../src/platform/quotas/redis-counters.ts';
import type { BanRules } from '../../src/platform/quotas/bans.ts';
import type { QuotaSubject } from '../../src/platform/quotas/counter-store.ts';
import { atEnd } from '../support/at-end.ts';
import { until } from '../support/until.ts';

export const one = { needs: 1, spends: 1 };
export const installation = { id: 'one', prefix: 'petstore:quota', previousNamesUntil: 0 };
export const noBans: BanRules = { banAfter: 0, banForSeconds: 1 };

let lastId = 0;

/** The store of one process, with its reports that Redis was lost or found. */
export class Counting {
  readonly store: FallbackCounterStore;
  readonly #changes: boolean[];

  private constructor(store: FallbackCounterStore, changes: boolean[]) {
    this.store = store;
    this.#changes = changes;
  }

  static async open(url: string, rules = noBans, now?: () => number): Promise<Counting> {
    const changes: boolean[] = [];
    const store = await FallbackCounterStore.open({
      databaseNow: Date.now,
      connect: (onError) => connectRedisCounters({ url, installation, rules, now, databaseNow: Date.now }, onError),
      rules,
      now,
      onSharedChange: (isShared) => void changes.push(isShared),
    });
    atEnd(() => store.close());
    return new Counting(store, changes);
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
}

/** The key of a client that no other test has. */
export function newKey(requestsPerMinute = 60, requestsPerDay = 1_000): QuotaSubject {
  lastId += 1;
  const bans = { epoch: 0, bannedUntil: 0, automaticBans: [] };
  return { id: String(lastId), limits: { requestsPerMinute, requestsPerDay }, bans, isAnonymous: false };
}
