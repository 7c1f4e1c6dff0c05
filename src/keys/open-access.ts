import { type AutomaticBan, type CounterStore, QuotaService, type QuotaSubject } from '../platform/quotas/index.ts';
import type { AccessService } from '../domain/access/access.service.ts';
import { BanRecorder } from './ban-recorder.ts';
import { KeyDirectory } from './key-directory.ts';
import type { KeyRecords } from '../domain/access/key-records.ts';

export interface AccessOptions {
  readonly records: KeyRecords;
  readonly counters: CounterStore;
  readonly service: Pick<AccessService, 'recordAutomaticBan'>;
  /** A key with the scope `admin` that needs no database. */
  readonly adminKey: string | undefined;
  /** Called when a key was banned automatically. Must not throw. */
  readonly onBan: (subject: QuotaSubject, ban: AutomaticBan) => void;
  /** Called when a ban couldn't be saved, which is tried again while the database is unavailable. Must not throw. */
  readonly onSaveFailure: (error: unknown) => void;
  /** Called once for each key that this version can't read. Must not throw. */
  readonly onUnreadable: (cause: Error) => void;
  /** Of the database. */
  readonly now: () => number;
}

/** Authentication and quota. */
export interface Access {
  readonly keys: KeyDirectory;
  readonly quota: QuotaService;
  /** Of the database. */
  readonly now: () => number;
  /** Saves pending bans. Call it before the database is closed. */
  close(): Promise<void>;
}

export function openAccess(options: AccessOptions): Access {
  const { records, counters, service, adminKey, onBan, onSaveFailure, onUnreadable, now } = options;
  const bans = new BanRecorder(service, onSaveFailure);
  const quota = new QuotaService(counters, (subject, ban) => {
    onBan(subject, ban);
    bans.record(subject.id, ban);
  });
  return { keys: new KeyDirectory(records, { adminKey, now, onUnreadable }), quota, now, close: () => bans.flush() };
}
