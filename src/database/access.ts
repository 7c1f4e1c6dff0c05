import { AccessService } from '../domain/access/access.service.ts';
import { BanRecorder } from '../domain/access/ban-recorder.ts';
import { KeyDirectory } from '../domain/access/key-directory.ts';
import type { BanRules } from '../domain/quota/bans.ts';
import type { AutomaticBan, CounterStore, QuotaSubject } from '../domain/quota/counter-store.ts';
import { QuotaService } from '../domain/quota/quota.service.ts';
import { DayCounterKeeper } from '../counters/day-counter-keeper.ts';
import { MemoryCounterStore } from '../counters/memory-counter-store.ts';
import type { Database } from './database.ts';

export interface AccessOptions {
  readonly database: Database;
  /** Counts in this Redis, together with all other processes that do; without one this process counts by itself. */
  readonly redisUrl: string | undefined;
  /** A key with the scope `admin` that needs no database. */
  readonly adminKey: string | undefined;
  readonly banRules: BanRules;
  readonly events: AccessEvents;
  /** Milliseconds since 1970. Left out, it is the system's clock, and Redis' own for what is counted there. */
  readonly now?: (() => number) | undefined;
}

/** What the operator should learn of. None of them may throw. */
export interface AccessEvents {
  /** Redis is gone, with the reason, or back. */
  readonly onSharingChange: (isShared: boolean, reason?: unknown) => void;
  /** A key's refusals have brought a ban about. */
  readonly onBan: (subject: QuotaSubject, ban: AutomaticBan) => void;
  /** A ban or what has been spent couldn't be written down; it is tried again. */
  readonly onWriteFailure: (error: unknown) => void;
}

/** Who may make a request, and whether one more. */
export interface Access {
  readonly keys: KeyDirectory;
  readonly quota: QuotaService;
  /** Whether the counters are those of all processes; undefined when they aren't meant to be. */
  isCountingShared(): boolean | undefined;
  /** Before the database is closed: what has been counted is written down. */
  close(): Promise<void>;
}

/** Opens the keys and the counters of a migrated database. */
export async function openAccess(options: AccessOptions): Promise<Access> {
  const { database, adminKey, events, now } = options;
  const service = new AccessService(database.stores, { now });
  const bans = new BanRecorder(service, events.onWriteFailure);
  const counters = await openCounters(options);
  const quota = new QuotaService(counters.store, (subject, ban) => {
    events.onBan(subject, ban);
    bans.record(subject.id, ban);
  });
  return {
    keys: new KeyDirectory(database.keyRecords, { adminKey, now }),
    quota,
    isCountingShared: counters.isShared,
    close: async () => {
      await counters.close();
      await bans.flush();
    },
  };
}

interface Counters {
  readonly store: CounterStore;
  readonly isShared: () => boolean | undefined;
  readonly close: () => Promise<void>;
}

async function openCounters({ database, redisUrl, banRules, events, now }: AccessOptions): Promise<Counters> {
  const local = new MemoryCounterStore({ rules: banRules, now });
  if (redisUrl === undefined) {
    const keeper = new DayCounterKeeper({
      store: local,
      table: database.dayCounters,
      onFailure: events.onWriteFailure,
    });
    await keeper.start();
    return { store: local, isShared: () => undefined, close: () => keeper.stop() };
  }
  // A fifth of all the modules, which nobody needs without a Redis.
  const { RedisCounterStore } = await import('../counters/redis-counter-store.ts');
  const store = await RedisCounterStore.connect({
    url: redisUrl,
    rules: banRules,
    local,
    onSharedChange: events.onSharingChange,
    now,
  });
  return { store, isShared: () => store.isShared, close: async () => store.close() };
}
