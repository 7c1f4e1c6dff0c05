import { LockMode, type EntityClass, type EntityManager, type FilterQuery } from '@mikro-orm/core';

import { notFound } from './errors.ts';
import { idOf } from './id.ts';

/**
 * Runs the work in a transaction of its own, with an entity manager that nobody else uses, and commits it; an error rolls it back.
 *
 * The work must use nothing but this entity manager: another connection awaited in it is a deadlock with a pool of one.
 * Throws UNAVAILABLE when the database can't be reached; violated constraints come as MikroORM's exceptions.
 */
export type UnitOfWork = <T>(work: (em: EntityManager) => Promise<T>) => Promise<T>;

/** The row with this id, kept from changing until the transaction ends; throws NOT_FOUND when there is none. */
export async function lockById<Row extends object>(
  em: EntityManager,
  entity: EntityClass<Row>,
  noun: string,
  id: string,
): Promise<Row> {
  const where = idOf(noun, id) as FilterQuery<NoInfer<Row>>;
  const row = await em.findOne(entity, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (row === null) throw notFound(noun, id);
  return row;
}
