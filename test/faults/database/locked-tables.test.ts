import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type pg from 'pg';

import { migrations } from '../../../migrations/index.ts';
import { createMaintenanceOrm } from '../../../src/database/database.ts';
import { migrate } from '../../../src/database/start/migrate.ts';
import { connect, runSql } from '../../support/postgres-client.ts';
import { RunningCommand } from '../../support/running-command.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

const cluster = await startCluster();
let holder: pg.Client;

/** The migration of this name, and those after it. */
const missing = migrations.slice(migrations.findIndex(({ name }) => name === '2026-11-27-events'));

/** A database that lacks migrations, one of whose tables is in use by a transaction that doesn't end. */
beforeEach(async () => {
  const orm = createMaintenanceOrm(cluster.url);
  await orm.migrator.up();
  for (const { name } of missing.toReversed()) await orm.migrator.down({ migrations: [name] });
  await orm.close(true);
  holder = await connect({ connectionString: cluster.url, application_name: 'report' });
  await holder.query('begin; lock table categories in row exclusive mode');
});

afterEach(() => holder.end());

const startMigration = (options = ''): RunningCommand =>
  new RunningCommand(`node dist/src/cli/migrate.js ${options}`, { DATABASE_URL: cluster.url });

/** A start in this process, and the sentences that it has said. */
function start(): { readonly app: Promise<TestApp>; readonly said: readonly string[] } {
  const said: string[] = [];
  const app = startTestApp({ DATABASE_URL: cluster.url }, { onNotice: (sentence) => said.push(sentence) });
  return { app, said };
}

const readiness = async ({ app }: TestApp): Promise<number> => (await app.server.inject('/readyz')).statusCode;

it('a migration that a lock keeps waiting says who holds it, delays others by a second at most, and ends with words after ten tries', async () => {
  const command = startMigration();
  let isOver = false;
  const ended = command.ended().finally(() => (isOver = true));
  let longest = 0;
  const other = await connect(cluster.url);
  const hasEnded = async (): Promise<boolean> => {
    const asked = performance.now();
    await other.query('update categories set name = name');
    longest = Math.max(longest, performance.now() - asked);
    return isOver;
  };
  await until(hasEnded, { maxMillis: 60_000 });
  expect(await ended).toBe(1);
  await other.end();
  const who = /process \d+ of the database server \(report, in a transaction since [-: 0-9]+ UTC\)/.source;
  expect(command.output).toMatch(
    new RegExp(`^The start waits for a lock, 10 times: ".*\\bcategories\\b.*" for ${who}\\.$`, 'm'),
  );
  expect(command.output).toMatch(
    new RegExp(`: A table is locked: ".*\\bcategories\\b.*" has waited for ${who}\\. End it by`, 'm'),
  );
  expect(command.output.split('\n')).toHaveLength(3);
  expect(longest).toBeLessThan(2_000);
  const { rows } = await holder.query(`select to_regclass('event_outbox') as table`);
  expect(rows).toEqual([{ table: null }]);
});

it('a dry run waits for no lock, names those that would be taken, and changes nothing', async () => {
  await holder.query('lock table categories, pets, orders, inventory');
  const tablesAndRows = `select relname, relacl from pg_class where relnamespace = 'public'::regnamespace
    union all select name, null from petstore_migrations order by 1`;
  const { rows: before } = await holder.query(tablesAndRows);
  const command = startMigration('--dry-run');
  expect(await command.ended()).toBe(0);
  expect(command.output.split('\n').slice(1)).toEqual([
    'Would be carried out in one transaction, which keeps every lock until its end:',
    '2026-11-27-events',
    ...['categories', 'inventory', 'orders', 'pets'].map((table) => `  SHARE ROW EXCLUSIVE on ${table}: writes wait`),
    ...missing.slice(1).flatMap(({ name, locks }) => {
      const locked = Object.keys(locks).map((table) => `  SHARE ROW EXCLUSIVE on ${table}: writes wait`);
      return [[name], locked.length === 0 ? ['  no lock on a table that exists'] : locked].flat();
    }),
    'Nothing has been changed.',
  ]);
  expect((await holder.query(tablesAndRows)).rows).toEqual(before);
  await holder.query('commit');
  await migrate({ location: cluster.url });
  const repeated = startMigration('--dry-run');
  expect(await repeated.ended()).toBe(0);
  expect(repeated.output).toMatch(/^The tables are up to date\. No migration would be carried out\.$/m);
  await holder.query(`insert into petstore_migrations (name) values ('2027-01-01-vouchers')`);
  for (const options of ['', '--dry-run']) {
    const older = startMigration(options);
    expect(await older.ended()).toBe(0);
    expect(older.output).toMatch(/^The tables are newer than this version, which doesn't have 2027-01-01-vouchers\./m);
  }
  await holder.query(`delete from petstore_migrations where name = '2027-01-01-vouchers'`);
});

it('a dry run on an empty database makes no table, not even that of the migrations', async () => {
  await holder.query('commit');
  await holder.query('create database fresh');
  const fresh = cluster.url.replace(/postgres$/, 'fresh');
  const command = new RunningCommand('node dist/src/cli/migrate.js --dry-run', { DATABASE_URL: fresh });
  expect(await command.ended()).toBe(0);
  expect(command.output).toContain(
    migrations.map(({ name }) => `${name}\n  no lock on a table that exists`).join('\n'),
  );
  expect(await runSql(fresh, `select relname from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([]);
});

it('a migration that fails says why in a sentence, and what would be right', async () => {
  await holder.query('commit');
  await holder.query('create table event_outbox ()');
  const command = startMigration();
  expect(await command.ended()).toBe(1);
  await holder.query('drop table event_outbox');
  expect(command.output.split('\n').at(-1)).toBe(
    `DATABASE_URL (${cluster.url.replace(':petstore@', '@')}): ` +
      'A migration failed: relation "event_outbox" already exists. Nothing has been changed. ' +
      'A schema must be empty, or as migrations have left it: a backup is restored into an empty one.',
  );
});

it('a migration is not ended by the timeouts that its role has for requests', async () => {
  await holder.query('commit');
  const ofRole = '-c idle_in_transaction_session_timeout=50 -c lock_timeout=50';
  await migrate({ location: `${cluster.url}?options=${encodeURIComponent(ofRole)}` });
  expect((await holder.query('select from event_outbox')).rowCount).toBe(0);
});

it('a start that a lock keeps waiting says so, and goes on as soon as the lock is gone', async () => {
  const { app, said } = start();
  const waits = async (): Promise<boolean> => {
    const { rows } = await holder.query('select from pg_locks where not granted');
    return rows.length > 0;
  };
  // Until the second try.
  for (const isWaiting of [true, false, true]) await until(async () => (await waits()) === isWaiting);
  await holder.query('commit');
  expect(await readiness(await app)).toBe(200);
  expect(said.join('\n')).toMatch(/^The start waits for a lock, .+ \(report, in a transaction since/m);
});

it('a start reads no table of the store: it serves while a bulk change has locked them', async () => {
  await holder.query('commit');
  await migrate({ location: cluster.url });
  await holder.query('begin; lock table categories, pets, orders, inventory');
  const { app, said } = start();
  expect(await readiness(await app)).toBe(200);
  expect(said).toEqual([]);
  await holder.query('commit');
});

it('a start beside a process that migrates says that it waits for it', async () => {
  await holder.query('rollback; begin; select pg_advisory_xact_lock(7338474783)');
  const { app, said } = start();
  await until(async () => (await holder.query('select from pg_locks where not granted')).rowCount !== 0);
  await holder.query('commit');
  expect(await readiness(await app)).toBe(200);
  expect(said.join('\n')).toMatch(/^Another process is migrating the database: this one waits/m);
});
