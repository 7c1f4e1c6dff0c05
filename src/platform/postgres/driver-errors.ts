import type { Caller } from '../callers/index.ts';
import { noConnection, readOnlyState } from './connection-failure.ts';
import { DatabaseUnavailable, ForeignKeyError, type UnavailableReason } from './failures.ts';

/** SQLSTATE classes and codes after which there is no connection: shutdown, and timeouts that end the session. */
const lostStates = /^(?:08|57P0|25P0[34])/;

/** SQLSTATE codes of a server that lacks resources, a full disk among them. */
const resourceStates = /^53/;

const foreignKeyViolation = '23503';

const networkErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Messages of `pg` that have no code. */
const connectionMessages =
  /connection terminated|client has encountered a connection error|client was closed|not queryable|connection ended/i;

/** Whether any of these errors, or a cause, matches. */
function isOrHas(error: unknown, matches: (error: Readonly<Record<string, unknown>>) => boolean): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { previous, errors, cause } = error as Record<string, unknown>;
  if (matches(error as Record<string, unknown>)) return true;
  if (Array.isArray(errors) && errors.some((each) => isOrHas(each, matches))) return true;
  return isOrHas(previous, matches) || isOrHas(cause, matches);
}

function hasCode(error: unknown, codes: RegExp): boolean {
  return isOrHas(error, ({ code }) => typeof code === 'string' && codes.test(code));
}

/** No connection, or a broken one: another statement would fail too. */
export function isLoss(error: unknown): boolean {
  return isOrHas(
    error,
    ({ name, code, message }) =>
      name === 'ConnectionFailure' ||
      name === 'DamagedMessage' ||
      code === noConnection ||
      (typeof code === 'string' && (networkErrors.has(code) || lostStates.test(code))) ||
      (typeof message === 'string' && connectionMessages.test(message)),
  );
}

export function isTimeout(error: unknown): boolean {
  return hasCode(error, /^57014$/);
}

/**
 * Two transactions have waited for each other, or one too long for a lock, or they couldn't be put in an order; the
 * same work may succeed now.
 */
export function isTransactionConflict(error: unknown): boolean {
  return hasCode(error, /^(?:55P03|40P01|40001)$/);
}

/** A prepared statement is missing, or outdated by a migration. Nothing has been executed. */
export function isOutdated(error: unknown): boolean {
  const isPlan = isOrHas(error, ({ code, message }) => code === '0A000' && /cached plan/.test(String(message)));
  return isPlan || hasCode(error, /^(?:26000|42P05)$/);
}

export function isUnprepared(error: unknown): boolean {
  return hasCode(error, /^26000$/);
}

/** The server can be read only: it has become a standby, or its disk is protected. */
export function isReadOnly(error: unknown): boolean {
  return isOrHas(error, ({ code }) => code === readOnlyState);
}

/** The server's disk, or its quota, is full. */
export function isDiskFull(error: unknown): boolean {
  return isOrHas(error, ({ code, message }) => code === '53100' || /no space left on device/i.test(String(message)));
}

/**
 * The failure for a driver's error: `DatabaseUnavailable` or `ForeignKeyError`; any other error is itself, and so is
 * one that has a `DatabaseUnavailable` among its causes.
 */
export function failureOf(error: unknown): Error {
  const original = error instanceof Error ? error : new Error(String(error), { cause: error });
  if (isOrHasUnavailable(error)) return original;
  if ((error as { code?: unknown }).code === foreignKeyViolation) return new ForeignKeyError(original);
  const reason = reasons.find(([, is]) => is(error))?.[0];
  if (reason === undefined) return original;
  const { subject } = error as { readonly subject?: string };
  return new DatabaseUnavailable(reason, original, reason === 'timeout' ? subject : undefined);
}

/** Whether it, or a cause, is `DatabaseUnavailable`. */
function isOrHasUnavailable(error: unknown): error is Error {
  return isOrHas(error, (each) => each instanceof DatabaseUnavailable);
}

const reasons: readonly (readonly [UnavailableReason, is: (error: unknown) => boolean])[] = [
  ['busy', isRefused],
  ['locked', isLocked],
  ['deadlock', isTransactionConflict],
  ['timeout', isTimeout],
  ['lost', isOutage],
];

/** The database is gone, starting, full, read-only or too slow. */
function isOutage(error: unknown): boolean {
  return [isLoss, isOutdated, isDiskFull, isReadOnly].some((is) => is(error)) || hasCode(error, resourceStates);
}

/** The wait for a connection timed out. */
function isRefused(error: unknown): boolean {
  return hasCode(error, /^NO_FREE_CONNECTION$/);
}

/** A lock wasn't free in time. */
export function isLocked(error: unknown): boolean {
  return hasCode(error, /^55P03$/);
}

/**
 * Rethrows the failure that the caller already has: the waits of its statements would add up, or its client has
 * disconnected.
 */
export function throwIfLost({ failure }: Caller): void {
  if (failure !== undefined) throw failure;
}

/** The failure for the error. A lost, slow or busy database fails the caller, whose first failure stays. */
export function recordFailure(error: unknown, caller: Caller): Error {
  if (caller.failure !== undefined) return caller.failure;
  const failure = failureOf(error);
  if (isLoss(error) || isTimeout(error) || isRefused(error)) caller.fail(failure);
  return failure;
}
