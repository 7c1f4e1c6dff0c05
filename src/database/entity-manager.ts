import { DriverException } from '@mikro-orm/core';
import type { MikroORM, SqlEntityManager } from '@mikro-orm/postgresql';

import type { Session } from '../platform/postgres/index.ts';
import { transactionOf } from './kysely-dialect.ts';

/**
 * Does work with an `EntityManager` of its own, whose identity map is empty.
 *
 * In the session of a transaction it is that of the transaction; otherwise it has a transaction of its own, which is
 * committed when the work has ended. Either way it uses a connection of our pool, for the session's caller and within
 * the caller's deadline, and fails as the session's statements do. Changes are sent by `em.flush()`.
 *
 * Requests that clients may send a thousand times a second run prepared statements instead (`sql/`): an entity that is
 * loaded and flushed takes eight times as long.
 */
export type WithEntities = <T>(session: Session, work: (em: SqlEntityManager) => Promise<T>) => Promise<T>;

export function createWithEntities({ em: global }: MikroORM): WithEntities {
  return (session, work) =>
    session.withLease(async (lease) => {
      const state = transactionOf(lease);
      const em = global.fork();
      em.setTransactionContext(state.transaction);
      try {
        return await work(em);
      } catch (error) {
        throw error instanceof DriverException ? (state.failure ?? error) : error;
      }
    });
}
