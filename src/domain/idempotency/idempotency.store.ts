import type { IdempotencyRecord } from './idempotency-record.entity.ts';

/** The principal and its key. */
export type IdempotencyKey = Pick<IdempotencyRecord, 'principalId' | 'key'>;

export interface IdempotencyStore {
  /**
   * Locks the key until the transaction ends; false when another transaction has locked it. It never waits, and needs no record:
   * there is none yet while the first request with the key is under way.
   */
  tryLock(key: IdempotencyKey): Promise<boolean>;
  find(key: IdempotencyKey): Promise<IdempotencyRecord | undefined>;
  /** Replaces an older record of the same key. */
  save(record: IdempotencyRecord): Promise<void>;
  /** Deletes at most `limit` of the records that were created at that time or before, and returns how many. */
  deleteUntil(createdAt: Date, limit: number): Promise<number>;
}
