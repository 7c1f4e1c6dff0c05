import type { BanRules } from './bans.ts';
import type { CounterStore } from './counter-store.ts';
import type { Installation } from './installation.ts';
import type { UsageTable } from './usage.ts';
import { FallbackCounterStore } from './fallback-counter-store.ts';
import { MemoryCounterStore } from './memory-counter-store.ts';
import { UsageRecorder } from './usage-recorder.ts';

/*
 * Where requests are counted.
 *
 * Model. Two fixed windows for each key or address, its refusals and its ban make one counter, and one decision is one
 * step: `decide` in `platform/quotas/counter.ts`. `MemoryCounterStore` runs it on counters of this process. With Redis the
 * same step is a script, one round trip; `RedisCounters` is only the transport, and a property test runs random
 * histories, clocks that step included, through both and compares every decision. `FallbackCounterStore` chooses
 * between them, and `UsageRecorder` saves what was counted.
 *
 * Guarantees. A window never admits more than its limit, however parallel the requests, over all processes that share a
 * Redis. It never lasts longer than its length, even if a clock is set back, and what it has spent stays spent then. At
 * most 100,000 addresses are remembered in memory, and they share 100,000 counters in Redis; counters of keys end with
 * their windows, in Redis by their expiry.
 *
 * Failures. Redis that doesn't respond within 500 ms is lost: each process continues alone from the last decision that
 * it has seen, by Redis' clock, and tries to reconnect every 500 ms. An emptied Redis is detected before anything is
 * counted in it, because its generation is gone with the counters; it is handled as a lost one. A process that
 * reconnects restores what it knows: for the same window the larger figure holds; what was counted meanwhile in a
 * window that began later is added to the earlier one. So with a limit of n, each process admits at most n once more,
 * less what it knows to be spent. A fail-over of Redis is the same, with what the new master had received by then: the
 * larger figure holds. A killed process loses at most the last second of its day counters.
 */

export interface CountersOptions {
  readonly table: UsageTable;
  /** Counts in this Redis, shared with other processes; undefined counts in this process. */
  readonly redisUrl: string | undefined;
  /** Whose counters they are, where several installations count in one Redis. */
  readonly readInstallation: () => Promise<Installation>;
  readonly rules: BanRules;
  /** Redis is lost, with the reason, or back. */
  readonly onSharedChange: (isShared: boolean, reason?: unknown) => void;
  /** Redis evicts counters when its memory is full, by this policy. Called at each connection. */
  readonly onEviction: (policy: string) => void;
  /** Usage couldn't be saved; it is retried. */
  readonly onSaveFailure: (error: unknown) => void;
  /** Of the database, in milliseconds since 1970. Counters in Redis have Redis' own. */
  readonly now: () => number;
}

export interface Counters {
  readonly store: CounterStore;
  /** Whether the counters are shared at the moment; undefined without Redis. */
  isShared(): boolean | undefined;
  /** Why they were not shared the last time. */
  lossReason(): unknown;
  /** Saves the usage counted before the call, so that the database has it. Never throws. */
  saveUsage(): Promise<void>;
  /** Before the database is closed. */
  close(): Promise<void>;
}

/** Throws UNAVAILABLE when the database can't be reached, and UnsuitableCounters for a Redis Cluster. */
export async function openCounters(options: CountersOptions): Promise<Counters> {
  const { table, redisUrl, rules, onSaveFailure, now } = options;
  const fallback = redisUrl === undefined ? undefined : await openRedis(redisUrl, options);
  const store = fallback?.local ?? new MemoryCounterStore({ rules, now });
  const recorder = new UsageRecorder({ store, table, onFailure: onSaveFailure, now });
  await recorder.start();
  return {
    store: fallback ?? store,
    isShared: () => fallback?.isShared,
    lossReason: () => fallback?.lossReason,
    saveUsage: () => recorder.flush(),
    close: async () => {
      fallback?.close();
      await recorder.stop();
    },
  };
}

async function openRedis(url: string, options: CountersOptions): Promise<FallbackCounterStore> {
  const { rules, onSharedChange, onEviction, now } = options;
  const installation = await options.readInstallation();
  // A fifth of all the modules: loaded only where Redis is configured.
  const { connectRedisCounters } = await import('./redis-counters.ts');
  const connect = (onError: (error: unknown) => void) =>
    connectRedisCounters({ url, installation, rules, databaseNow: now, onEviction }, onError);
  return FallbackCounterStore.open({ connect, rules, onSharedChange, databaseNow: now });
}
