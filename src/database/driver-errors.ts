import { DomainError, unavailable } from '../domain/errors.ts';
import { ForeignKeyViolation } from '../domain/store.ts';

/**
 * SQLSTATE classes and codes of a server that can't serve, or that asks to be tried again. 26000 is a name that is unknown because the
 * statement before it, which had to prepare it, was ended.
 */
const unavailableStates = /^(?:08|57P0|57014|53|40001|40P01|55P03|25P03|26000)/;

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
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|query read timeout|not queryable|connection ended/i;

/**
 * UNAVAILABLE for a database that is gone, starting, full or too slow, and for a transaction that it gave up in favour of
 * another; `ForeignKeyViolation`; every other error as it is.
 */
export function translateDriverError(error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code === foreignKeyViolation) {
    return new ForeignKeyViolation(error.message, { cause: error });
  }
  return !(error instanceof DomainError) && isUnavailable(error) ? unavailable(error) : error;
}

function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, message, previous, errors, cause } = error as Record<string, unknown>;
  if (typeof code === 'string' && (networkErrors.has(code) || unavailableStates.test(code))) return true;
  if (typeof message === 'string' && connectionMessages.test(message)) return true;
  if (Array.isArray(errors) && errors.some(isUnavailable)) return true;
  return isUnavailable(previous) || isUnavailable(cause);
}
