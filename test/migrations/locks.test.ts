import { expect, it } from '@jest/globals';

import { migrations } from '../../migrations/index.ts';
import { readConfig } from '../../src/settings/config.ts';
import { createMaintenanceOrm } from '../../src/database/database.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded/embedded-postgres.ts';
import { atEnd } from '../support/at-end.ts';
import { locationOf } from '../support/postgres-client.ts';
import { createTestDatabase } from '../support/test-database.ts';

const environment = await createTestDatabase();
const { databaseUrl, dataDir } = readConfig(environment);
if (databaseUrl === undefined) {
  const engine = await startEmbeddedPostgres(dataDir);
  atEnd(() => engine.close());
}
const orm = createMaintenanceOrm(locationOf(environment));
atEnd(() => orm.close(true));

/** In PostgreSQL's own spelling, weakest first. */
const modes = [
  ['AccessShareLock', 'ACCESS SHARE'],
  ['RowShareLock', 'ROW SHARE'],
  ['RowExclusiveLock', 'ROW EXCLUSIVE'],
  ['ShareUpdateExclusiveLock', 'SHARE UPDATE EXCLUSIVE'],
  ['ShareLock', 'SHARE'],
  ['ShareRowExclusiveLock', 'SHARE ROW EXCLUSIVE'],
  ['ExclusiveLock', 'EXCLUSIVE'],
  ['AccessExclusiveLock', 'ACCESS EXCLUSIVE'],
] as const;

const tables = `select oid from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
  and relname <> 'petstore_migrations'`;

/** The strongest locks that the migration holds before it commits, on tables that were there before it. */
function locksOf(name: string): Promise<Readonly<Record<string, string>>> {
  return orm.em.fork().transactional(async (em) => {
    const before = (await em.execute<{ oid: number }[]>(tables)).map(({ oid }) => oid);
    await orm.migrator.up({ migrations: [name], transaction: em.getTransactionContext() });
    const held = await em.execute<{ table: string; mode: string }[]>(
      `select relation::regclass::text as "table", mode from pg_locks
      where pid = pg_backend_pid() and granted and relation::bigint = any ('{${before.join(',')}}'::bigint[])`,
    );
    const strongest = modes.flatMap(([mode, documented]) =>
      held.filter((lock) => lock.mode === mode).map(({ table }) => [table, documented] as const),
    );
    return Object.fromEntries(strongest);
  });
}

it('each migration takes the locks on existing tables that are declared beside it', async () => {
  await orm.migrator.down({ to: 0 });
  for (const { name, locks } of migrations) {
    expect({ name, locks: await locksOf(name) }).toEqual({ name, locks });
  }
});
