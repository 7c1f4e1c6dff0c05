import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type Transaction,
} from 'kysely';

import type { Caller } from '../platform/callers/index.ts';
import { ConnectionLease, type ConnectionPool } from '../platform/postgres/index.ts';

/** Without a caller its leases are connected by the code that begins a transaction. */
export function createDialect(pool: ConnectionPool, caller: Caller | undefined): Dialect {
  return {
    createDriver: () => new LeaseDriver(pool, caller),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** Sends what MikroORM has written, too. */
class KyselyLease extends ConnectionLease implements DatabaseConnection {
  /** The transaction of MikroORM that it belongs to. */
  transaction: KyselyTransaction | undefined;
  /** The last one, as the driver has thrown it: MikroORM throws a copy, which has lost its class and its name. */
  failure: unknown;

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const { rows, rowCount } = await this.send(sql, parameters);
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Rows are not streamed: lists are read in pages.');
  }
}

/**
 * Gives each lease back, on every path.
 *
 * Kysely 0.29.6 doesn't: when `commit` or `rollback` rejects, its transactions never release their connection. So the
 * statement that ends a transaction ends its lease too, however it ends. (`begin` is sent with the first statement, and
 * never rejects.) The pool closes a connection that is still in a transaction, which rolls it back.
 */
class LeaseDriver implements Driver {
  readonly #pool: ConnectionPool;
  readonly #caller: Caller | undefined;

  constructor(pool: ConnectionPool, caller: Caller | undefined) {
    this.#pool = pool;
    this.#caller = caller;
  }

  async init(): Promise<void> {
    // The pool connects when it is used.
  }

  async acquireConnection(): Promise<KyselyLease> {
    const lease = new KyselyLease(this.#pool);
    return this.#caller === undefined ? lease : lease.connect(this.#caller);
  }

  /** At the isolation level of the session: none of ours asks for another. */
  async beginTransaction(lease: KyselyLease): Promise<void> {
    lease.begin();
  }

  async commitTransaction(lease: KyselyLease): Promise<void> {
    try {
      await lease.commit();
    } catch (error) {
      // A write that was sent with it may have failed before it.
      await this.rollbackTransaction(lease);
      throw error;
    } finally {
      lease.release();
    }
  }

  /** Never rejects: what can't be rolled back by a statement is rolled back by closing the connection. */
  async rollbackTransaction(lease: KyselyLease): Promise<void> {
    try {
      if (!lease.isReleased) await lease.rollback();
    } catch {
      // The cause of the rollback is what the caller has to know.
    } finally {
      lease.release();
    }
  }

  async savepoint(lease: KyselyLease, name: string): Promise<void> {
    await lease.send(`savepoint "${name}"`);
  }

  async rollbackToSavepoint(lease: KyselyLease, name: string): Promise<void> {
    await lease.send(`rollback to savepoint "${name}"`);
  }

  async releaseSavepoint(lease: KyselyLease, name: string): Promise<void> {
    await lease.send(`release savepoint "${name}"`);
  }

  async releaseConnection(lease: KyselyLease): Promise<void> {
    lease.release();
  }

  destroy(): Promise<void> {
    return this.#pool.end();
  }
}

type KyselyTransaction = Pick<Transaction<unknown>, 'getExecutor'>;

/** The connection of a transaction of MikroORM. */
export async function leaseOf(transaction: KyselyTransaction): Promise<ConnectionLease> {
  const lease = await transaction.getExecutor().provideConnection((each) => Promise.resolve(each as KyselyLease));
  lease.transaction = transaction;
  return lease;
}

/** The transaction of MikroORM that a lease belongs to, and what has failed in it last. */
export function transactionOf(lease: ConnectionLease): Pick<KyselyLease, 'transaction' | 'failure'> {
  return lease as KyselyLease;
}
