import type { Transaction } from 'kysely';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

import { currentRequest } from '../domain/access/current-request.ts';
import { unavailable } from '../domain/errors.ts';
import { isDeadlock, translateDriverError } from './driver-errors.ts';
import type { Lease } from './kysely-dialect.ts';
import type { Statements } from './statements.ts';
import type { LookUp, Session } from './stores/session.ts';

/** How long a transaction of `atomically` may take from its BEGIN, further tries included. */
export interface AtomicLimit {
  readonly maxMillis: number;
}

/** Runs each statement in its own transaction, on a shared connection if it is short. */
export function createSession(orm: MikroORM, { send, lookUp, guard }: Statements, { maxMillis }: AtomicLimit): Session {
  const transact = <T>(work: (lease: Lease) => Promise<T>): Promise<T> =>
    guard(() =>
      orm.em.fork().transactional(async (em) => {
        currentRequest()?.recordWrite();
        return work(await leaseOf(em));
      }),
    );
  return {
    isTransaction: false,
    run: send,
    lookUp,
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

/** Rolls back what has taken too long, and what PostgreSQL would roll back at a COMMIT without a word, because a statement has failed. */
async function untilDeadline<T>(
  lease: Lease,
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
  const session = createTransactionSession(lease, {
    before: assertTime,
    onFailure: (error) => (failure ??= error),
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
export function leaseOf(em: EntityManager): Promise<Lease> {
  return transactionOf(em)
    .getExecutor()
    .provideConnection((lease) => Promise.resolve(lease as Lease));
}

interface Watch {
  /** Called before each statement. */
  readonly before: () => void;
  readonly onFailure: (error: Error) => void;
}

/** Runs every statement in the transaction. */
export function createTransactionSession(lease: Lease, watch?: Watch): Session {
  const session: Session = {
    isTransaction: true,
    run: async (query) => {
      watch?.before();
      try {
        return await lease.run(query);
      } catch (error) {
        const translated = translateDriverError(error);
        watch?.onFailure(translated);
        throw translated;
      }
    },
    lookUp: async <Row>({ readOne }: LookUp<Row>, id: string) => (await session.run(readOne(id)))[0],
    transaction: (work) => work(session),
    atomically: (work) => work(session),
  };
  return session;
}
