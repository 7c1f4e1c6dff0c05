import type { Transaction } from 'kysely';
import type { MikroORM } from '@mikro-orm/postgresql';

import { currentRequest } from '../domain/access/current-request.ts';
import { unavailable } from '../domain/errors.ts';
import type { PgConnection } from '../postgres/connection.ts';
import type { PgConnections } from '../postgres/connections.ts';
import {
  isDeadlock,
  isOutdated,
  isReadOnly,
  recordFailure,
  throwIfLost,
  translateDriverError,
} from '../postgres/driver-errors.ts';
import { createTransactionSession, type ConnectionLease } from './lease.ts';
import { createSharedInsertions, createSharedTransactions } from './shared-transactions.ts';
import {
  type LookUp,
  type Query,
  type Session,
  type Statement,
  statementOf,
  type StatementValues,
} from '../postgres/statement.ts';

export interface SessionOptions extends Pick<PgConnections, 'accounts' | 'pool' | 'pipeline'> {
  readonly orm: MikroORM;
  /** How long a transaction of `atomically` may take from its BEGIN, further tries included. */
  readonly atomicMillis: number;
  /** Receives the driver's error of every failure on an exclusive connection. */
  readonly onFailure: (error: unknown) => void;
}

const minLockWaitMillis = 100;

/**
 * For how long a statement of the transaction may wait for a lock. It differs from try to try, so that of two that wait
 * for each other one is rolled back and tried again, long before PostgreSQL looks for a deadlock (after 1 s).
 */
const lockWait = statementOf(`select set_config('lock_timeout', $1, true)`, () => undefined, 'write');

/** Runs each statement in its own transaction: a short one on a shared connection, any other on an exclusive one. */
export function createSession(options: SessionOptions): Session {
  const { orm, accounts, pool, pipeline, atomicMillis, onFailure } = options;
  /**
   * Work on an exclusive connection. Fails at once when an earlier statement of the request has lost the database;
   * failures are translated and remembered for the request.
   */
  const guard = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const request = currentRequest();
    throwIfLost(request);
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      // The address may lead to another server by now, and what is prepared may be outdated.
      if (isReadOnly(error) || isOutdated(error)) pool.renew();
      throw recordFailure(error, request);
    }
  };
  const runExclusively = (queries: readonly Query<unknown>[]): Promise<unknown[][]> => {
    const work = (connection: PgConnection): Promise<unknown[][]> => connection.run(queries);
    const isSlow = queries.some(({ statement }) => statement.kind === 'slow');
    return guard(async () => {
      try {
        return await pool.run(work, isSlow);
      } catch (error) {
        // It wasn't executed, so it may be retried on a new connection.
        if (!isOutdated(error)) throw error;
        pool.renew();
        return pool.run(work, isSlow);
      }
    });
  };
  const insert = createSharedInsertions(accounts, runExclusively);
  const run: Session['run'] = <Row>(
    statement: Statement<Row>,
    values: StatementValues,
    locks: readonly Query<unknown>[] = [],
  ): Promise<Row[]> => {
    if (statement.many !== undefined) return insert(statement, values, locks);
    if (statement.kind === 'short' && pipeline !== undefined) return pipeline.run(statement, values) as Promise<Row[]>;
    return runExclusively([...locks, { statement, values }]).then((rows) => rows.at(-1) as Row[]);
  };
  const transact = <T>(work: (lease: ConnectionLease) => Promise<T>): Promise<T> =>
    guard(() =>
      // Without an entity manager, which costs a tenth of a small transaction: stores need its connection only.
      orm.em.getConnection().transactional(async (transaction) => {
        currentRequest()?.recordWrite();
        return work(await leaseOf(transaction));
      }),
    );
  return {
    run,
    defer: async (statement, values) => {
      await run(statement, values);
    },
    lookUp:
      pipeline === undefined
        ? async ({ byId }, id) => (await run(byId, [id]))[0]
        : <Row>(lookUp: LookUp<Row>, id: string) => pipeline.lookUp(lookUp, id) as Promise<Row | undefined>,
    insertion: createSharedTransactions(accounts, transact),
    transaction: (work) => transact((lease) => work(createTransactionSession(lease))),
    atomically: async (work) => {
      let deadline: number | undefined;
      for (;;) {
        try {
          return await transact((lease) => {
            deadline ??= performance.now() + atomicMillis;
            lease.defer({ statement: lockWait, values: [`${minLockWaitMillis * (1 + 2 * Math.random())}ms`] });
            return untilDeadline(lease, deadline, atomicMillis, work);
          });
        } catch (error) {
          if (!isDeadlock(error) || performance.now() + minLockWaitMillis > (deadline ?? 0)) throw error;
        }
      }
    },
  };
}

/**
 * Rolls back what has taken too long, and what PostgreSQL would roll back at a COMMIT without a word, because a write
 * has failed.
 */
async function untilDeadline<T>(
  lease: ConnectionLease,
  deadline: number,
  maxMillis: number,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => lease.cancel(), Math.max(0, deadline - performance.now()));
  let failure: Error | undefined;
  const assertTime = (): void => {
    if (performance.now() <= deadline) return;
    throw unavailable(new Error(`A transaction has taken longer than ${maxMillis} ms.`));
  };
  const run = async <Row>(
    statement: Statement<Row>,
    values: StatementValues,
    locks?: readonly Query<unknown>[],
  ): Promise<Row[]> => {
    assertTime();
    if (statement.kind !== 'write') return lease.runRead(statement, values);
    try {
      return await lease.run(statement, values, locks);
    } catch (error) {
      failure ??= translateDriverError(error);
      throw error;
    }
  };
  // What has failed is undone before the next statement is sent.
  let last: Promise<unknown> = Promise.resolve();
  const session = createTransactionSession(lease, (statement, values, locks) => {
    const rows = last.then(() => run(statement, values, locks));
    last = rows.catch(() => undefined);
    return rows;
  });
  try {
    const result = await work(session);
    if (failure !== undefined) throw failure;
    assertTime();
    return result;
  } finally {
    clearTimeout(timer);
  }
}

/** The connection of a transaction of MikroORM. */
export function leaseOf(transaction: Pick<Transaction<unknown>, 'getExecutor'>): Promise<ConnectionLease> {
  return transaction.getExecutor().provideConnection((lease) => Promise.resolve(lease as ConnectionLease));
}
