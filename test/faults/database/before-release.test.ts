import { expect, it } from '@jest/globals';

import { runSql } from '../../support/postgres-client.ts';
import { RunningCommand } from '../../support/running-command.ts';
import { startCluster } from '../../support/started-cluster.ts';

const cluster = await startCluster();
await runSql(
  cluster.url,
  'create table petstore_migrations (id serial primary key, name text, executed_at timestamptz)',
);
await runSql(cluster.url, `insert into petstore_migrations (name) values ('2026-11-21-store')`);

it.each(['main.js', 'cli/migrate.js', 'cli/keys.js list', 'cli/seed.js --pets 1'])(
  '%s ends with 1 and changes nothing in a database from before 1.0.0',
  async (command) => {
    const run = new RunningCommand(`node dist/src/${command}`, { DATABASE_URL: cluster.url, PORT: '0' });
    expect(await run.ended()).toBe(1);
    expect(run.output).toMatch(/: The database was made before version 1\.0\.0, .+: start with an empty one, .+\.$/);
    const tables = `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`;
    expect(await runSql(cluster.url, tables)).toEqual([{ relname: 'petstore_migrations' }]);
  },
);
