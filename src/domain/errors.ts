/** The errors of the domain's rules; `http/error-table.ts` maps each code to its status and spelling. */
export type DomainErrorCode =
  | 'VALIDATION_FAILED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'PRECONDITION_FAILED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'ABORTED'
  | 'EVENTS_GONE'
  | 'UNAVAILABLE';

/** One field or argument that can't be accepted. */
export interface Violation {
  /** As the client spells it, without the object around it: `name`, `first`, `filter.shipDateFrom`. */
  readonly field: string;
  /** Which value was wrong and what would be right. */
  readonly message: string;
}

interface DomainErrorOptions {
  readonly violations?: readonly Violation[];
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
  /** The same request is being carried out already. */
  readonly isUnderWay?: boolean;
  /** One of the rows can't be read, the others can. */
  readonly isOfOneRow?: boolean;
  /** The subject of a statement that was cut off, because that takes too long: the same request would be cut off again. */
  readonly tooLong?: string | undefined;
}

/** A refusal by the rules of the store. Its message is written for clients and never contains an internal text. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: DomainErrorCode;
  readonly violations: readonly Violation[];
  readonly retryAfterSeconds: number | undefined;
  readonly isUnderWay: boolean;
  readonly isOfOneRow: boolean;
  readonly tooLong: string | undefined;

  constructor(code: DomainErrorCode, message: string, options: DomainErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.violations = options.violations ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isUnderWay = options.isUnderWay === true;
    this.isOfOneRow = options.isOfOneRow === true;
    this.tooLong = options.tooLong;
  }
}

/** The error for bad input: its message names every failing field. */
export function validationFailed(violations: readonly Violation[]): DomainError {
  const message = violations.map((violation) => `${violation.field}: ${violation.message}`).join(' ');
  return new DomainError('VALIDATION_FAILED', message, { violations });
}

/** The error for a resource that doesn't exist: `notFound('pet', '42')`. */
export function notFound(noun: string, id: string): DomainError {
  return new DomainError('NOT_FOUND', `There is no ${noun} with the id ${quoted(id)}.`);
}

export function isUnavailable(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code === 'UNAVAILABLE';
}

export function unavailable(cause: unknown): DomainError {
  return new DomainError('UNAVAILABLE', 'The store is not available at the moment. Try again in a few seconds.', {
    retryAfterSeconds: 5,
    cause,
  });
}

/** The error for what a newer version of the service has stored, and this one doesn't know; its cause names the row. */
export function unreadable(cause: Error): DomainError {
  const message =
    'This needs a row with a value of a newer version of the service, which runs beside this one. Try again in a few seconds.';
  return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: 5, cause, isOfOneRow: true });
}

/** A text that a client sent, as an error message shows it: what is left out of a long one is marked. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
