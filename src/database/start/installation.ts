import { unavailable } from '../../domain/errors.ts';
import type { Installation } from '../../domain/quota/installation.ts';
import type { StatementRunner } from '../../postgres/statement-runner.ts';

/** Throws UNAVAILABLE when the database can't be reached. */
export async function readInstallation(run: StatementRunner): Promise<Installation> {
  const [row] = await run<Installation>(
    'petstore_installation',
    `select id, coalesce(extract(epoch from previous_names_until) * 1000, 0)::float8 as "previousNamesUntil" from installation`,
    [],
  );
  if (row === undefined) throw unavailable(new Error('The table installation has no row.'));
  return row;
}
