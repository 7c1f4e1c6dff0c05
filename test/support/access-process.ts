import { serviceItself } from '../../src/domain/access/principal.ts';
import { type Counters, openCounters } from '../../src/platform/quotas/counters.ts';
import type { Database } from '../../src/database/database.ts';
import { AccessService } from '../../src/domain/access/access.service.ts';
import { BanRecorder } from '../../src/keys/ban-recorder.ts';
import { KeyDirectory } from '../../src/keys/key-directory.ts';
import { QuotaService } from '../../src/platform/quotas/quota.service.ts';
import type { BanRules } from '../../src/platform/quotas/bans.ts';
import { testCaller } from './caller.ts';

export interface AccessProcessOptions {
  readonly rules?: BanRules;
  readonly onSaveFailure?: (error: unknown) => void;
  readonly now?: (() => number) | undefined;
}

export interface Access {
  /** As an operator has it who asks this process. */
  readonly service: AccessService;
  readonly keys: KeyDirectory;
  readonly quota: QuotaService;
  readonly counters: Pick<Counters, 'saveUsage'>;
  close(): Promise<void>;
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
    readPrefix: () => database.readInstallation(testCaller),
    redisUrl: undefined,
    rules,
    onSharedChange,
    onEviction: () => undefined,
    onSaveFailure,
    now,
  });
  const access = new AccessService(database.stores.for(testCaller), serviceItself, {
    now,
    saveBan: (id) => bans.save(id),
  });
  const bans = new BanRecorder({ access, onBan: () => undefined, onSaveFailure });
  return {
    service: access,
    keys: new KeyDirectory(database.keyRecords(testCaller), { now }),
    quota: new QuotaService(counters.store, (subject, ban) => bans.record(subject, ban)),
    counters,
    close: async () => {
      await counters.close();
      await bans.flush();
    },
  };
}

function rethrow(error: unknown): void {
  throw error;
}
