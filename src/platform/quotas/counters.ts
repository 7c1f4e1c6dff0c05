import { every } from '../background.ts';
import type { BanRules } from './bans.ts';
import type { CounterStore } from './counter-store.ts';
import { FallbackCounterStore } from './fallback-counter-store.ts';
import { clockOffset } from './hosted-counters.ts';
import { MemoryCounterStore } from './memory-counter-store.ts';
import { type AskCounters, RemoteCounterStore } from './remote-counter-store.ts';
import { UsageRecorder, type UsageTable } from './usage-recorder.ts';

/** The process of this machine that counts for several. All of it rejects while that is silent. */
export interface CounterHost {
  readonly decide: AskCounters;
  /** From now on usage may be saved through this process. Resolves when the day counters have been restored. */
  offer(table: UsageTable, clockOffset: number): Promise<void>;
  /** The database's clock has another offset now. */
  setClock(clockOffset: number): void;
  /** Saves the usage that was counted before the call. */
  saveUsage(): Promise<void>;
  /** The same; then no usage is saved through this process any more. */
  withdraw(): Promise<void>;
}

export interface CountersOptions {
  readonly table: UsageTable;
  /** Counts there, unless there is a Redis. */
  readonly host?: CounterHost | undefined;
  /** Counts in this Redis, shared with other processes; undefined counts in this process. */
  readonly redisUrl: string | undefined;
  /** With what the keys of the counters in Redis begin: something else for each database. */
  readonly readPrefix: () => Promise<string>;
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
  const { table, redisUrl, rules, onSaveFailure, now, host } = options;
  if (host !== undefined && redisUrl === undefined) return openHosted(host, options);
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

const clockEveryMillis = 1_000;
/** Two readings of a clock in whole milliseconds differ by as much. */
const clockErrorMillis = 2;

async function openHosted(host: CounterHost, { table, now, onSaveFailure }: CountersOptions): Promise<Counters> {
  let told = clockOffset(now);
  await host.offer(table, told);
  const telling = every(clockEveryMillis, () => {
    const offset = clockOffset(now);
    if (Math.abs(offset - told) <= clockErrorMillis) return;
    told = offset;
    host.setClock(offset);
  });
  return {
    store: new RemoteCounterStore(host.decide, now),
    isShared: () => undefined,
    lossReason: () => undefined,
    saveUsage: () => host.saveUsage().catch(onSaveFailure),
    close: async () => {
      clearInterval(telling);
      await host.withdraw().catch(onSaveFailure);
    },
  };
}

async function openRedis(url: string, options: CountersOptions): Promise<FallbackCounterStore> {
  const { rules, onSharedChange, onEviction, now } = options;
  const prefix = await options.readPrefix();
  // A fifth of all the modules: loaded only where Redis is configured.
  const { connectRedisCounters } = await import('./redis-counters.ts');
  const connect = (onError: (error: unknown) => void) =>
    connectRedisCounters({ url, prefix, rules, onEviction }, onError);
  return FallbackCounterStore.open({ connect, rules, onSharedChange, databaseNow: now });
}
