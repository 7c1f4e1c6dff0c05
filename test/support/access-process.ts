import { openCounters } from '../../src/platform/quotas/counters.ts';
import type { Database } from '../../src/database/database.ts';
import { AccessService } from '../../src/domain/access/access.service.ts';
import { openAccess, type Access } from '../../src/keys/open-access.ts';
import type { BanRules } from '../../src/platform/quotas/bans.ts';
import { testCaller } from './caller.ts';

export interface AccessProcessOptions {
  readonly rules?: BanRules;
  readonly onSaveFailure?: (error: unknown) => void;
  readonly now?: (() => number) | undefined;
}

/** The part of a process that knows keys and counts, without Redis: `close` saves what it has counted. */
export async function startAccessProcess(database: Database, options: AccessProcessOptions = {}): Promise<Access> {
  const {
    rules = { banAfter: 0, banForSeconds: 1 },
    onSaveFailure = rethrow,
    now = () => database.clock.now(),
  } = options;
  const onSharedChange = (): void => undefined;
  const counters = await openCounters({
    table: database.usage(testCaller),
    readInstallation: () => database.readInstallation(testCaller),
    redisUrl: undefined,
    rules,
    onSharedChange,
    onEviction: () => undefined,
    onSaveFailure,
    now,
  });
  const access = openAccess({
    records: database.keyRecords(testCaller),
    counters: counters.store,
    service: new AccessService(database.stores.for(testCaller), { now }),
    adminKey: undefined,
    onUnreadable: () => undefined,
    onBan: () => undefined,
    onSaveFailure,
    now,
  });
  const close = async (): Promise<void> => {
    await counters.close();
    await access.close();
  };
  return { ...access, close };
}

function rethrow(error: unknown): void {
  throw error;
}
