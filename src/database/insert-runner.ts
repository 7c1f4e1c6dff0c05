import type { MikroORM } from '@mikro-orm/postgresql';

import type { UnitOfWork } from '../domain/unit-of-work.ts';
import { translateDriverError } from './driver-errors.ts';
import { PreparedStatement, type Parameter } from './prepared-statement.ts';
import type { PreparedRunner } from './reads/statement.ts';

/** Runs each statement as a transaction of its own. Violated constraints come as MikroORM's exceptions. */
export async function createInsertRunner(orm: MikroORM): Promise<PreparedRunner> {
  const pool = await orm.em.getConnection().getNativeClient();
  return async (name, text, values) => {
    try {
      const statement = new PreparedStatement(name, text, values as readonly Parameter[]);
      return await (pool.query(statement) as unknown as Promise<never[]>);
    } catch (error) {
      throw translateDriverError(orm.driver.convertException(error as Error));
    }
  };
}

/** Runs each statement in the unit of work that is under way, on its connection. */
export function createJoiningRunner(orm: MikroORM, unitOfWork: UnitOfWork): PreparedRunner {
  return (_name, text, values) =>
    unitOfWork(async (em) => {
      // MikroORM writes the values into the statement itself, in the order of the question marks.
      const sql = text.replaceAll(/\$\d+/g, '?');
      try {
        return await orm.em.getConnection().execute(sql, [...values], 'all', em.getTransactionContext());
      } catch (error) {
        throw orm.driver.convertException(error as Error);
      }
    });
}
