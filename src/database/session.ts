import { CompiledQuery, type Transaction } from 'kysely';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

import { currentRequest } from '../domain/access/current-request.ts';
import { translateDriverError } from './driver-errors.ts';
import type { Statements } from './statements.ts';
import type { LookUp, Query, Session } from './stores/session.ts';

/** Runs each statement in its own transaction, on a shared connection if it is short. */
export function createSession(orm: MikroORM, { send, lookUp, guard }: Statements): Session {
  return {
    isTransaction: false,
    run: send,
    lookUp,
    transaction: (work) =>
      guard(() =>
        orm.em.fork().transactional((em) => {
          currentRequest()?.recordWrite();
          return work(createTransactionSession(transactionOf(em)));
        }),
      ),
  };
}

/** The transaction that the entity manager has begun. */
export function transactionOf(em: EntityManager): Transaction<unknown> {
  const transaction: unknown = em.getTransactionContext();
  return transaction as Transaction<unknown>;
}

/** Runs every statement in the transaction. */
export function createTransactionSession(transaction: Transaction<unknown>): Session {
  const session: Session = {
    isTransaction: true,
    run: async <Row>({ text, values, decode }: Query<Row>): Promise<Row[]> => {
      const { rows } = await translated(transaction.executeQuery(CompiledQuery.raw(text, [...values])));
      return rows.map((row) => decode(Object.values(row as Record<string, unknown>)));
    },
    lookUp: async <Row>({ readOne }: LookUp<Row>, id: string) => (await session.run(readOne(id)))[0],
    transaction: (work) => work(session),
  };
  return session;
}

async function translated<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw translateDriverError(error);
  }
}
