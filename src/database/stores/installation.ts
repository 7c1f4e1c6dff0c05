import { unavailable } from '../../domain/errors.ts';
import type { Installation } from '../../platform/quotas/index.ts';
import { objectStatement, type Session } from '../../platform/postgres/index.ts';
import { millisOf } from '../sql/entity-table.ts';

const statement = objectStatement<Omit<Installation, 'prefix'>>(
  `select id, coalesce(${millisOf('previous_names_until')}, 0) as "previousNamesUntil" from installation`,
);

/** Throws UNAVAILABLE when the database can't be reached. */
export async function readInstallation(session: Session): Promise<Installation> {
  const [row] = await session.run(statement, []);
  if (row === undefined) throw unavailable(new Error('The table installation has no row.'));
  return { ...row, prefix: 'petstore:quota' };
}
