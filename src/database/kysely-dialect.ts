import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';

import type { ConnectionPool, PooledConnection } from './connection-pool.ts';
import { sendQuery } from './send-query.ts';
import type { Query } from './stores/session.ts';

/** PostgreSQL for MikroORM, on leases of our own pool. */
export function createDialect(pool: ConnectionPool): Dialect {
  return {
    createDriver: () => new LeaseDriver(pool),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/**
 * Gives each lease back, on every path.
 *
 * Kysely 0.29.6 doesn't: when `begin`, `commit` or `rollback` rejects, its transactions never release their connection. So the statement
 * that ends a transaction ends its lease too, however it ends, and so does a `begin` that fails. The pool closes a connection that is still
 * in a transaction, which rolls it back.
 */
class LeaseDriver implements Driver {
  readonly #pool: ConnectionPool;

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {
    // The pool connects when it is used.
  }

  async acquireConnection(): Promise<Lease> {
    return new Lease(await this.#pool.connect());
  }

  async beginTransaction(lease: Lease, { isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
    try {
      await lease.send(`begin${level}${accessMode === undefined ? '' : ` ${accessMode}`}`);
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async commitTransaction(lease: Lease): Promise<void> {
    try {
      await lease.send('commit');
    } finally {
      lease.release();
    }
  }

  /** Never rejects: what can't be rolled back by a statement is rolled back by closing the connection. */
  async rollbackTransaction(lease: Lease): Promise<void> {
    try {
      if (!lease.isReleased) await lease.send('rollback');
    } catch {
      // The cause of the rollback is what the caller has to know.
    } finally {
      lease.release();
    }
  }

  async savepoint(lease: Lease, name: string): Promise<void> {
    await lease.send(`savepoint "${name}"`);
  }

  async rollbackToSavepoint(lease: Lease, name: string): Promise<void> {
    await lease.send(`rollback to savepoint "${name}"`);
  }

  async releaseSavepoint(lease: Lease, name: string): Promise<void> {
    await lease.send(`release savepoint "${name}"`);
  }

  async releaseConnection(lease: Lease): Promise<void> {
    lease.release();
  }

  destroy(): Promise<void> {
    return this.#pool.end();
  }
}

/** A connection of the pool, until it is released. After that it may be another's, so nothing is sent on it any more. */
export class Lease implements DatabaseConnection {
  isReleased = false;
  readonly #connection: PooledConnection;

  constructor(connection: PooledConnection) {
    this.#connection = connection;
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.#connection.release();
  }

  /** Ends the statement under way; it fails as one that took too long. */
  cancel(): void {
    if (!this.isReleased) this.#connection.cancelStatement();
  }

  /** Runs a statement of a store, prepared as on any other connection. */
  async run<Row>(query: Query<Row>): Promise<Row[]> {
    this.#assertUse();
    return sendQuery(this.#connection, query);
  }

  async send(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<{ command: string; count: number; rows: never[] }> {
    this.#assertUse();
    const { command, rowCount, rows } = await this.#connection.query<never>(text, [...values]);
    return { command, count: rowCount ?? 0, rows };
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, count, rows } = await this.send(sql, parameters);
    const isWrite = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command);
    return isWrite ? { rows, numAffectedRows: BigInt(count) } : { rows };
  }

  #assertUse(): void {
    if (this.isReleased) throw new Error('The transaction has ended.');
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Rows are not streamed: lists are read in pages.');
  }
}
