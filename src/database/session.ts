import type { Transaction } from 'kysely';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

import { currentRequest } from '../domain/access/current-request.ts';
import { unavailable } from '../domain/errors.ts';
import { isDeadlock, translateDriverError } from '../postgres/driver-errors.ts';
import type { ConnectionLease } from './lease.ts';
import type { Statements } from '../postgres/statements.ts';
import { SharedTransactions } from './shared-transactions.ts';
import { createTransactionSession } from './transaction-session.ts';
import type { Query, Session } from '../postgres/statement.ts';

/** How long a transaction of `atomically` may take from its BEGIN, further tries included. */
export interface AtomicLimit {
  readonly maxMillis: number;
}

/** Runs each statement in its own transaction, on a shared connection if it is short. */
export function createSession(orm: MikroORM, { run, lookUp, guard }: Statements, { maxMillis }: AtomicLimit): Session {
  const transact = <T>(work: (lease: ConnectionLease) => Promise<T>): Promise<T> =>
    guard(() =>
      orm.em.fork().transactional(async (em) => {
        currentRequest()?.recordWrite();
        return work(await leaseOf(em));
      }),
    );
  const shared = new SharedTransactions(transact);
  return {
    isTransaction: false,
    run,
    defer: async (query) => {
      await run(query);
    },
    lookUp,
    insertion: (work) => shared.run(work),
    transaction: (work) => transact((lease) => work(createTransactionSession(lease))),
    atomically: async (work) => {
      let deadline: number | undefined;
      for (;;) {
        try {
          return await transact((lease) => {
            deadline ??= performance.now() + maxMillis;
            return untilDeadline(lease, deadline, maxMillis, work);
          });
        } catch (error) {
          if (!isDeadlock(error) || performance.now() > (deadline ?? 0)) throw error;
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
  const run = async <Row>(query: Query<Row>): Promise<Row[]> => {
    assertTime();
    if (query.kind !== 'write') return lease.runRead(query);
    try {
      return await lease.run(query);
    } catch (error) {
      failure ??= translateDriverError(error);
      throw error;
    }
  };
  // What has failed is undone before the next statement is sent.
  let last: Promise<unknown> = Promise.resolve();
  const session = createTransactionSession(lease, (query) => {
    const rows = last.then(() => run(query));
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

/** The transaction that the entity manager has begun. */
export function transactionOf(em: EntityManager): Transaction<unknown> {
  const transaction: unknown = em.getTransactionContext();
  return transaction as Transaction<unknown>;
}

/** The connection of the transaction that the entity manager has begun. */
export function leaseOf(em: EntityManager): Promise<ConnectionLease> {
  return transactionOf(em)
    .getExecutor()
    .provideConnection((lease) => Promise.resolve(lease as ConnectionLease));
}
