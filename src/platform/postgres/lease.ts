import type { QueryResult } from 'pg';

import type { Caller } from '../callers/index.ts';
import type { ConnectionPool, PooledConnection } from './connection-pool.ts';
import {
  commandOf,
  type LookUp,
  type Query,
  type Session,
  type Statement,
  type StatementValues,
  together,
} from './statement.ts';

const begin = control('begin');
const commit = control('commit');

/**
 * A connection of the pool, from `connect` until it is released. After that it may be another's, so nothing is sent on
 * it any more.
 *
 * A statement whose outcome need not be awaited is deferred: it is sent in one write with the next one. BEGIN is sent
 * with the first statement of a transaction, and the last writes with COMMIT; equal ones that follow each other are
 * one, where they have a form for many. When a deferred statement fails, those after it are not executed.
 */
export class ConnectionLease {
  isReleased = false;
  readonly #pool: ConnectionPool;
  #connection: PooledConnection | undefined;
  #deferred: Query<unknown>[] = [];
  #hasSent = false;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /** Call it once, before the first statement. Throws as the pool does. */
  async connect(caller: Caller): Promise<this> {
    this.#connection = await this.#pool.connect(caller);
    return this;
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.#connection?.release();
  }

  /** Ends the statement under way; it fails as one that took too long. */
  cancel(): void {
    if (!this.isReleased) this.#connection?.cancelStatement();
  }

  begin(): void {
    this.#deferred.push(begin);
  }

  /** A transaction without statements is not begun. */
  async commit(): Promise<void> {
    if (this.#hasSent || this.#deferred.length > 1) await this.runTogether([commit]);
  }

  async rollback(): Promise<void> {
    this.#deferred = [];
    if (this.#hasSent) await this.send('rollback');
  }

  /** Sends the statement with the next one, or with COMMIT, which fails when it fails. */
  defer(query: Query<unknown>): void {
    this.#deferred.push(query);
  }

  async run<Row>(
    statement: Statement<Row>,
    values: StatementValues,
    locks: readonly Query<unknown>[] = [],
  ): Promise<Row[]> {
    return (await this.runTogether([...locks, { statement, values }])).at(-1) as Row[];
  }

  /** Sends several in one write; returns the rows of each. */
  async runTogether(queries: readonly Query<unknown>[]): Promise<unknown[][]> {
    const connection = this.#connected();
    this.#hasSent = true;
    const deferred = gathered(this.#deferred);
    this.#deferred = [];
    const rows = await connection.run([...deferred, ...queries]);
    return rows.slice(deferred.length);
  }

  /** Sends a text that isn't prepared. */
  async send(text: string, values: readonly unknown[] = []): Promise<QueryResult<never>> {
    const connection = this.#connected();
    const last = this.#deferred.pop();
    if (last !== undefined) await this.runTogether([last]);
    return connection.query<never>(text, [...values]);
  }

  #connected(): PooledConnection {
    if (this.isReleased) throw new Error('The transaction has ended.');
    if (this.#connection === undefined) throw new Error('It is not known whose transaction this is.');
    return this.#connection;
  }
}

/** Translates an error of the driver for the work of a transaction. */
export type FailureOf = (error: unknown) => Error;

/** Runs every statement in the transaction. */
export function createTransactionSession(
  caller: Caller,
  lease: ConnectionLease,
  failureOf: FailureOf,
  {
    run = (statement, values, locks) => lease.run(statement, values, locks),
    withLease = (work) => work(lease),
  }: Partial<Pick<Session, 'run' | 'withLease'>> = {},
): Session {
  const fail = (error: unknown): never => {
    throw failureOf(error);
  };
  const session: Session = {
    caller,
    run: (statement, values, locks) => run(statement, values, locks).catch(fail),
    defer: async (statement, values) => lease.defer({ statement, values }),
    lookUp: async <Row>({ byId }: LookUp<Row>, id: string) => (await session.run(byId, [id]))[0],
    transaction: (work) => work(session),
    withLease: (work) => withLease(work).catch(fail),
  };
  return session;
}

function gathered(queries: readonly Query<unknown>[]): Query<unknown>[] {
  const groups: Query<unknown>[][] = [];
  for (const query of queries) {
    const last = groups.at(-1);
    if (query.statement.many !== undefined && last?.[0]?.statement === query.statement) last.push(query);
    else groups.push([query]);
  }
  return groups.map(together);
}

/** A query without values, whose rows don't matter. */
export function control(text: string, columns = 0): Query<unknown> {
  return { statement: commandOf(text, { kind: 'short', columns }), values: [] };
}
