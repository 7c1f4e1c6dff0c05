import { LockMode, type EntityClass, type EntityManager, type FilterQuery } from '@mikro-orm/core';

import { DomainError, notFound } from './errors.ts';
import { idOf } from './id.ts';

/**
 * Runs the work in a transaction of its own, with an entity manager that nobody else uses, and commits it; an error rolls it back.
 *
 * The work must use nothing but this entity manager: another connection awaited in it is a deadlock with a pool of one.
 * Throws UNAVAILABLE when the database can't be reached; violated constraints come as MikroORM's exceptions.
 */
export type UnitOfWork = <T>(work: (em: EntityManager) => Promise<T>) => Promise<T>;

/** Says whether a row is still as the client has seen it. */
export type Expectation<Row> = (row: Row) => boolean;

/**
 * The row with this id, kept from changing until the transaction ends.
 *
 * Throws NOT_FOUND when there is none, and PRECONDITION_FAILED when it isn't as expected.
 */
export async function lockById<Row extends object>(
  em: EntityManager,
  entity: EntityClass<Row>,
  noun: string,
  id: string,
  isExpected?: Expectation<Row>,
): Promise<Row> {
  const where = idOf(noun, id) as FilterQuery<NoInfer<Row>>;
  const row = await em.findOne(entity, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (row === null) throw notFound(noun, id);
  if (isExpected?.(row) === false) {
    throw new DomainError('PRECONDITION_FAILED', `The ${noun} ${id} is no longer in the state that was expected.`);
  }
  return row;
}
