import type { IdempotencyRecord } from './idempotency-record.entity.ts';

export type IdempotencyKey = Pick<IdempotencyRecord, 'principalId' | 'key'>;

export type StoredOutcome = Pick<IdempotencyRecord, 'fingerprint' | 'result'>;

/** A key that is locked until the transaction ends, with its records. */
export interface ClaimedKey {
  /** Of the fields that were asked for, by their names. */
  readonly fields: ReadonlyMap<string, StoredOutcome>;
  /** There are records of other fields. */
  readonly hasOthers: boolean;
}

export interface IdempotencyStore {
  /**
   * Locks the key until the transaction ends, and reads its records of these fields that were created after that time;
   * undefined when another transaction has locked it. It never waits, and needs no record: there is none yet while the
   * first request with the key is under way.
   */
  claim(key: IdempotencyKey, fields: readonly string[], since: Date): Promise<ClaimedKey | undefined>;
  /** Replaces an older record of the same key and field. */
  save(record: IdempotencyRecord): Promise<void>;
  /** At most `limit` that were created until then, of those that nobody has locked. Returns how many. */
  deleteUntil(createdAt: Date, limit: number): Promise<number>;
}
