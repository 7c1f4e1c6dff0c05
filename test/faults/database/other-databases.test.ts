import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { migrate } from '../../../src/database/start/migrate.ts';
import { programPath } from '../../support/postgres-cluster.ts';
import { runSql } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { listenHere } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

const cluster = await startCluster((data) => appendFileSync(join(data, 'postgresql.conf'), `\nwal_level = logical\n`));

/** A name that needs quotes, in texts too. */
const schema = `"The store's ""Größe"" - v1.2."`;

function urlOf(database: string, user = 'postgres'): string {
  const url = new URL(cluster.url);
  url.pathname = `/${database}`;
  url.username = user;
  return url.href;
}

/** A database whose tables are in that schema. */
async function createDatabase(name: string): Promise<string> {
  await cluster.sql(`create database ${name}`);
  const url = urlOf(name);
  await runSql(url, `create schema ${schema}; alter database ${name} set search_path = ${schema}, public`);
  return url;
}

const createPet = `mutation {
  createCategory(input: { name: "Dogs" }) { category { id } }
  createPet(input: { name: "Rex", categoryId: "1" }) { pet { id } }
}`;

/** The types of all events in the log. */
async function typesIn(url: string): Promise<unknown[]> {
  const rows = await runSql(url, 'select type from events order by position');
  return rows.map(({ type }) => type);
}

it('the tables are in the first schema of the search path, published, migrated again, dumped and restored, and every change is an event', async () => {
  const url = await createDatabase('original');
  await migrate({ location: url });
  await runSql(url, 'create publication everything for all tables');
  await migrate({ location: url });
  const service = await listenHere({ DATABASE_URL: url });
  await service.graphql(createPet);
  const created = ['category.created', 'pet.created', 'inventory.created'];
  await until(async () => (await typesIn(url)).length === created.length);
  expect(await typesIn(url)).toEqual(created);
  expect(
    await runSql(url, `select from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`),
  ).toEqual([]);
  await service.close();

  const dump = execFileSync(programPath('pg_dump'), ['--no-owner', '--no-privileges', '--dbname', url]);
  await cluster.sql('create database restored');
  const restoredUrl = urlOf('restored');
  execFileSync(programPath('psql'), ['--quiet', '-v', 'ON_ERROR_STOP=1', '--dbname', restoredUrl], { input: dump });
  await runSql(restoredUrl, `alter database restored set search_path = ${schema}, public`);
  const restored = await listenHere({ DATABASE_URL: restoredUrl });
  await restored.graphql('mutation { updatePet(input: { id: "1", name: "Max" }) { pet { id } } }');
  await until(async () => (await typesIn(restoredUrl)).length === created.length + 1);
  expect(await typesIn(restoredUrl)).toEqual([...created, 'pet.updated']);
  await restored.close();
});

it('every table that is deleted from or updated can be published', async () => {
  const url = await createDatabase('published');
  await migrate({ location: url });
  expect(
    await runSql(
      url,
      `select relname from pg_class where relkind = 'r' and relnamespace = quote_ident(current_schema())::regnamespace
        and relreplident <> 'f' and not exists (select from pg_index where indrelid = pg_class.oid and indisprimary)`,
    ),
  ).toEqual([]);
});

it('/readyz?verbose has what PostgreSQL says while changes do not become events', async () => {
  const url = await createDatabase('stopped');
  const service = await listenHere({ DATABASE_URL: url });
  await runSql(url, 'create publication everything for all tables; alter table event_outbox replica identity nothing');
  await service.graphql(createPet);
  const verbose = async (): Promise<string> => (await fetch(`${service.address}/readyz?verbose`)).text();
  await until(async () => (await verbose()).includes('warn: '));
  expect(await verbose()).toMatch(
    /^warn: changes are not moved into the log of events: cannot delete from table "event_outbox" because it does not have a replica identity and publishes deletes$/m,
  );
  await runSql(url, 'alter table event_outbox replica identity full');
  await until(async () => !(await verbose()).includes('warn: '));
  await service.close();
});

it('the start and /readyz?verbose say from which tables row-level security hides rows', async () => {
  const url = await createDatabase('filtered');
  await migrate({ location: url });
  await runSql(
    url,
    `create role reader login password 'petstore';
     grant usage on schema ${schema} to reader;
     grant all on all tables in schema ${schema} to reader;
     grant all on all sequences in schema ${schema} to reader;
     grant all on all functions in schema ${schema} to reader;
     alter table pets enable row level security; alter table orders enable row level security`,
  );
  const service = await listenHere({ DATABASE_URL: urlOf('filtered', 'reader'), LOG_LEVEL: 'warn' });
  const words = "Row-level security hides rows of these tables from the service's role: orders, pets.";
  expect(service.log.filter((line) => line.includes(words))).toHaveLength(1);
  const response = await fetch(`${service.address}/readyz?verbose`);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain(`[+]migrations ok\nwarn: ${words}`);
  await service.close();
});
