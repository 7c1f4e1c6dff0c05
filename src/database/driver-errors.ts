import { currentRequest } from '../domain/access/current-subject.ts';
import { DomainError, unavailable } from '../domain/errors.ts';
import { ForeignKeyViolation } from '../domain/store.ts';
import { noConnection } from './connection.ts';

/**
 * SQLSTATE classes and codes of a server that can't serve, or that asks to be tried again: connections, shutting down, a statement that took too
 * long, resources, two transactions in each other's way, a server that has become read-only, prepared statements that are gone or there already.
 */
const unavailableStates = /^(?:08|57P0|57014|53|40001|40P01|55P03|25P03|25006|26000|42P05)/;

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

/** What `pg` says without a code. */
const connectionMessages =
  /connection terminated|client has encountered a connection error|client was closed|not queryable|connection ended/i;

/** Any of these errors, or what it was made from. */
function isOrHas(error: unknown, matches: (error: Readonly<Record<string, unknown>>) => boolean): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { previous, errors, cause } = error as Record<string, unknown>;
  if (matches(error as Record<string, unknown>)) return true;
  if (Array.isArray(errors) && errors.some((each) => isOrHas(each, matches))) return true;
  return isOrHas(previous, matches) || isOrHas(cause, matches);
}

/** No connection, or one that broke: nothing that is sent now would fare better. */
export function isLoss(error: unknown): boolean {
  return isOrHas(
    error,
    ({ name, code, message }) =>
      name === 'ConnectionFailure' ||
      code === noConnection ||
      (typeof code === 'string' && (networkErrors.has(code) || /^(?:08|57P0)/.test(code))) ||
      (typeof message === 'string' && connectionMessages.test(message)),
  );
}

/** The statement took too long. */
export function isTimeout(error: unknown): boolean {
  return isOrHas(error, ({ code }) => code === '57014');
}

/** What the connection has prepared is gone, or was made for a table as it was before a migration. Nothing has been executed. */
export function isOutdated(error: unknown): boolean {
  return isOrHas(
    error,
    ({ code, message }) =>
      code === '26000' || code === '42P05' || (code === '0A000' && /cached plan/.test(String(message))),
  );
}

/** The server can be read only: it has become a standby, or its disk is protected. */
export function isReadOnly(error: unknown): boolean {
  return isOrHas(error, ({ code }) => code === '25006');
}

/** The server's disk, or its quota, is full. */
export function isDiskFull(error: unknown): boolean {
  return isOrHas(error, ({ code, message }) => code === '53100' || /no space left on device/i.test(String(message)));
}

/**
 * UNAVAILABLE for a database that is gone, starting, full, read-only or too slow, and for a transaction that it gave up in favour of
 * another; `ForeignKeyViolation`; every other error as it is.
 */
export function translateDriverError(error: unknown): Error {
  const original = error instanceof Error ? error : new Error(String(error), { cause: error });
  if (isOrHas(error, ({ name }) => name === 'DomainError')) return original;
  if ((error as { code?: unknown }).code === foreignKeyViolation) {
    return new ForeignKeyViolation(original.message, { cause: error });
  }
  if (isRefused(error)) return busy(error);
  return isLoss(error) || isOutdated(error) || isDiskFull(error) || hasState(error) ? unavailable(error) : original;
}

/** Others went first for too long. */
function isRefused(error: unknown): boolean {
  return isOrHas(error, ({ code }) => code === 'TURN_REFUSED');
}

function busy(cause: unknown): DomainError {
  const message =
    'The database is busy: counts, searches and changes take turns, and this one has waited too long. Try again in a few seconds.';
  return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: 2, cause });
}

function hasState(error: unknown): boolean {
  return isOrHas(error, ({ code }) => typeof code === 'string' && unavailableStates.test(code));
}

/** Throws at once what the request has already failed of: waiting for every statement of a request would add up. */
export function throwIfLost(request = currentRequest()): void {
  if (request?.failure !== undefined) throw request.failure;
}

/** The translated error, after remembering for the request under way that the database is lost to it, too slow or too busy. */
export function recordFailure(error: unknown, request = currentRequest()): Error {
  const translated = translateDriverError(error);
  if (request !== undefined && (isLoss(error) || isTimeout(error) || isRefused(error))) {
    request.failure = translated;
  }
  return translated;
}
