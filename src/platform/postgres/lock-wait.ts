import type { Caller } from '../callers/index.ts';
import { commandOf, type Query } from './statement.ts';

/** For how long a statement waits for a lock, which is set for the session; less when its caller has waited before. */
export const lockWaitMillis = 2_000;
/** A statement that has waited less than this before needs no setting of its own. */
const unnoticedMillis = 100;
/** A lock that is free at once is had even then. */
const minMillis = 10;

const setting = commandOf(`select set_config('lock_timeout', $1, true)`, { columns: 1 });

/** Limits the waits of the statements after it in the transaction. */
export function limitLockWait(millis: number): Query<undefined> {
  return { statement: setting, values: [`${Math.max(minMillis, millis)}ms`] };
}

/**
 * The setting that is sent before the statements of a caller on an exclusive connection, so that it keeps its one
 * deadline.
 */
export function lockWaitOf(caller: Caller | undefined): readonly Query<undefined>[] {
  const waitedMillis = caller?.waitedMillis ?? 0;
  return waitedMillis < unnoticedMillis ? [] : [limitLockWait(lockWaitMillis - waitedMillis)];
}
