import { DomainError, unavailable, unreadable } from '../domain/errors.ts';
import { ForeignKeyViolation } from '../domain/store.ts';
import {
  DatabaseUnavailable,
  ForeignKeyViolation as ForeignKeyRefusal,
  type LookUp,
  type NoFreeConnection,
  type Query,
  type Session,
  type Statement,
  type StatementValues,
  type UnavailableReason,
  UnreadableRow,
} from '../platform/postgres/index.ts';

/** The session of stores: it fails as the domain's ports say. */
export class StoreSession implements Session {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  run<Row>(statement: Statement<Row>, values: StatementValues, locks?: readonly Query<unknown>[]): Promise<Row[]> {
    return this.#session.run(statement, values, locks).catch(fail);
  }

  defer(statement: Statement<unknown>, values: StatementValues): Promise<void> {
    return this.#session.defer(statement, values).catch(fail);
  }

  lookUp<Row>(lookUp: LookUp<Row>, id: string): Promise<Row | undefined> {
    return this.#session.lookUp(lookUp, id).catch(fail);
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#session.transaction((inside) => work(this.#of(inside))).catch(fail);
  }

  atomically<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#session.atomically((inside) => work(this.#of(inside))).catch(fail);
  }

  insertion<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#session.insertion((inside) => work(this.#of(inside))).catch(fail);
  }

  /** Itself, inside a transaction. */
  #of(session: Session): Session {
    return session === this.#session ? this : new StoreSession(session);
  }
}

function fail(error: unknown): never {
  throw domainFailureOf(error as Error);
}

const again = 'Try again in a few seconds.';

/** The server is there, but something else was in the way: the client is told what it has waited for last. */
const messages: Readonly<Partial<Record<UnavailableReason, (cause: unknown) => string>>> = {
  busy: (cause) => waitedTooLong((cause as Partial<NoFreeConnection>).waitedFor ?? 'a database connection'),
  locked: () => waitedTooLong("a row's lock, which another change holds"),
  deadlock: () => `Changes at the same time have waited for each other, and this one was undone. ${again}`,
  deadline: () => `A transaction has taken longer than it may: the database is busy. ${again}`,
  timeout: () =>
    `This has taken the database too long: it is busy, or another change has locked the same rows. ${again}`,
};

function waitedTooLong(what: string): string {
  return `The store is busy: this has waited too long for ${what}. ${again}`;
}

const domainFailures = new WeakMap<Error, Error>();

/** What a failure of the database is to the domain: UNAVAILABLE, or `ForeignKeyViolation`. Any other error is itself. */
export function domainFailureOf(error: Error): Error {
  const known = domainFailures.get(error);
  if (known !== undefined) return known;
  const translated = translate(error);
  // The statements of a caller that has lost the database fail with one error.
  if (translated !== error) domainFailures.set(error, translated);
  return translated;
}

function translate(error: Error): Error {
  if (error instanceof DatabaseUnavailable) {
    const message = messages[error.reason]?.(error.cause);
    if (message === undefined) return unavailable(error);
    return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: 2, cause: error });
  }
  if (error instanceof ForeignKeyRefusal) {
    return new ForeignKeyViolation(error.message, { cause: error, constraint: error.constraint });
  }
  return error instanceof UnreadableRow ? unreadable(error) : error;
}
