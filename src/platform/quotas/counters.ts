import type { BanRules } from './bans.ts';
import type { CounterStore } from './counter-store.ts';
import type { Installation } from './redis-keys.ts';
import { FallbackCounterStore } from './fallback-counter-store.ts';
import { MemoryCounterStore } from './memory-counter-store.ts';
import { UsageRecorder, type UsageTable } from './usage-recorder.ts';

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

/** Throws when the database can't be reached, and UnsuitableCounters for a Redis Cluster. */
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
    connectRedisCounters({ url, installation, rules, onEviction }, onError);
  return FallbackCounterStore.open({ connect, rules, onSharedChange, databaseNow: now });
}
