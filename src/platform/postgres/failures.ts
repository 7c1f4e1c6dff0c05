/** Why the database doesn't do something now. */
export type UnavailableReason =
  /** The database is gone, starting, full, read-only, or doesn't respond. */
  | 'lost'
  /** No connection was free in time. */
  | 'busy'
  /** A lock wasn't free in time. */
  | 'locked'
  /** The transaction was undone, because it and others have waited for each other. */
  | 'deadlock'
  /** A statement has taken too long. */
  | 'timeout'
  /** A transaction has taken too long. */
  | 'deadline';

/** The database doesn't do it now; it may do it later. Its message is that of the cause. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  readonly reason: UnavailableReason;
  /** The subject of the statement that was cut off, where it would be cut off again (`Statement.subject`). */
  readonly subject: string | undefined;

  constructor(reason: UnavailableReason, cause: Error, subject?: string) {
    super(cause.message, { cause });
    this.reason = reason;
    this.subject = subject;
  }
}

/** A row names another that doesn't exist, or is still named by one. */
export class ForeignKeyError extends Error {
  override readonly name = 'ForeignKeyError';
  /** The name of the foreign key. */
  readonly constraint: string | undefined;

  constructor(cause: Error & { readonly constraint?: string }) {
    super(cause.message, { cause });
    this.constraint = cause.constraint;
  }
}

const maxShownValue = 60;

/** A row has a value that this version doesn't know: a newer one beside it has written it. Only who needs it fails. */
export class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow';
  readonly id: string;

  constructor(table: string, id: string, property: string, value: unknown) {
    const shown = JSON.stringify(value).slice(0, maxShownValue);
    super(`The row ${id} of ${table} can't be read: this version doesn't know the ${property} ${shown}.`);
    this.id = id;
  }
}
