import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/settings/config.ts';
import { explainFailure } from '../../src/settings/failed-start.ts';
import { runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { repository, RunningCommand } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { listenHere } from '../support/test-app.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { runBare, takeBlock, takeCommands } from './command-blocks.ts';
import { guideSql } from './guide.ts';

const directory = temporaryDirectory();

const cluster = await startCluster();

/** Runs a script of `psql` as the superuser. */
function psql(sql: string): void {
  execFileSync('psql', ['--quiet', '--set=ON_ERROR_STOP=1', cluster.url], { input: sql });
}

/** The URL of one of the guide's roles, on this suite's server. */
function urlOf(user: string): string {
  return `postgresql://${user}@127.0.0.1:${cluster.port}/petstore`;
}

const [ownerUrl, serviceUrl] = [urlOf('petstore_migrations:one'), urlOf('petstore_1:two')];
writeFileSync(join(directory, 'owner'), `DATABASE_URL=${ownerUrl}\n`);
writeFileSync(join(directory, 'environment'), `NODE_ENV=production\nDATABASE_URL=${serviceUrl}\n`);
const here = ['/etc/petstore', directory] as const;

test('the documented roles migrate, serve with the least rights, and let the password change without a pause', async () => {
  psql(guideSql('Roles'));
  const [migrate = '', start = '', seed = ''] = takeCommands('Roles 1', here);
  const early = createApp(readConfig({ LOG_LEVEL: 'silent', DATABASE_URL: serviceUrl }));
  expect(await early.then(() => 'It has started.', explainFailure)).toMatch(
    /permission denied for schema public\nThis role sees no tables of the service, and may make none: run `migrate` as the role that owns them/,
  );

  runBare(migrate);
  const started = await Service.start({}, { command: start });
  expect((await started.get('/readyz')).status).toBe(200);
  expect(await started.stop()).toBe(0);
  const service = await listenHere({ DATABASE_URL: serviceUrl, LOG_LEVEL: 'warn' });
  await service.graphql('mutation { createCategory(input: { name: "Dogs" }) { category { id } } }');
  const headers = { 'idempotency-key': 'one' };
  for (let time = 1; time <= 2; time += 1) {
    expect((await service.post('/pets', { name: 'Rex', categoryId: 1 }, headers)).status).toBe(201);
  }
  const key = 'mutation { createApiKey(input: { name: "client", plan: FREE }) { secret } }';
  const { secret } = (await service.graphql(key)).body.data.createApiKey as { readonly secret: string };
  const pets = await service.graphql('{ pets { totalCount nodes { name inventory { quantity } } } }', {}, secret);
  expect(pets.body).toMatchObject({ data: { pets: { totalCount: 1 } } });
  expect((await service.get('/readyz')).status).toBe(200);
  // The functions of the log run with the rights of their owner.
  await until(async () => (await runSql(serviceUrl, 'select from events')).length === 3);
  const [partition] = await runSql(
    cluster.url.replace(/postgres$/, 'petstore'),
    `select min(inhrelid::regclass::text) as name from pg_inherits`,
  );
  const log = ['event_outbox', 'event_backlog', 'event_state', 'events', String(partition?.['name'])].flatMap(
    (table) => [
      `insert into ${table} default values`,
      `update ${table} set at = now()`.replace('event_state set at', 'event_state set moved_at'),
      `delete from ${table}`,
      `truncate ${table}`,
    ],
  );
  for (const sql of log) await expect(runSql(serviceUrl, sql)).rejects.toThrow(/permission denied for/);
  psql(`create role reader login password 'four'; grant usage on schema public to reader`);
  const reader = urlOf('reader:four');
  for (const call of ['petstore_event_resync()', `petstore_move_events('x', 1)`, `petstore_maintain_events('1 day')`])
    await expect(runSql(reader, `select ${call}`)).rejects.toThrow('permission denied for function');
  for (const sql of ['drop table pets', 'drop table events', 'create table mine ()', 'truncate pets']) {
    await expect(runSql(serviceUrl, sql)).rejects.toThrow(/must be owner of|permission denied for/);
  }

  const [create = '', drop = ''] = guideSql('Rotating keys').split(/(?<=;)\n/);
  psql(create);
  const url = urlOf('petstore_2:three');
  const next = await listenHere({ DATABASE_URL: url });
  // Used until it has stopped: usage is saved at the end.
  expect((await service.get('/pets', { authorization: `Bearer ${secret}` })).status).toBe(200);
  await service.close();
  psql(drop);
  // Nothing that runs beside requests lacks a right.
  expect(service.log).toEqual([]);
  expect((await next.get('/pets', { authorization: `Bearer ${secret}` })).status).toBe(200);
  await next.close();

  // The role of the migrations restores a backup, and the service goes on with its own.
  runBare(takeBlock('Backup and restore 1', here, ['dist/', `${repository}/dist/`]), directory);
  for (const sql of log) await expect(runSql(url, sql)).rejects.toThrow(/permission denied for/);
  const restored = await listenHere({ DATABASE_URL: url, LOG_LEVEL: 'warn' });
  expect((await restored.get('/pets', { authorization: `Bearer ${secret}` })).status).toBe(200);
  expect((await restored.post('/pets', { name: 'Max', categoryId: 1 })).status).toBe(201);
  await until(async () => (await runSql(url, 'select from events')).length === 5);
  await restored.close();
  expect(restored.log).toEqual([]);

  // Only the role of the migrations may seed.
  const denied = new RunningCommand(seed, { DATABASE_URL: url });
  expect(await denied.ended()).toBe(1);
  expect(denied.output).toMatch(/: must be owner of index \w+\nMigrations and `seed` need a role that owns/);
  runBare(seed);
  expect(await runSql(url, 'select count(*)::int from pets')).toEqual([{ count: 1002 }]);
});
