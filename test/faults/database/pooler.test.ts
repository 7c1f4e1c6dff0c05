import { expect, it } from '@jest/globals';

import { createApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { explainFailure } from '../../../src/settings/failed-start.ts';
import { connect, runSql } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { listenHere } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';
import { MixedLoad } from '../mixed-load.ts';
import { receiveOwnEvent } from '../own-event.ts';
import { PgBouncer } from './pgbouncer.ts';

const cluster = await startCluster();

const createCategory = 'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }';
/**
 * What the server works on. A session whose client PgBouncer has lost in the middle of a statement waits for it, and
 * has no lock.
 */
const running = `select from pg_stat_activity where application_name = 'petstore-gateway' and state = 'active'
  and wait_event_type is distinct from 'Client'`;
const read = '{ pets(first: 5) { totalCount edges { node { id name } } } }';

it('behind PgBouncer in session mode it serves, sets nothing, and ends statements that take too long', async () => {
  const pooler = await PgBouncer.start(cluster.url, { pool_mode: 'session' });
  const service = await listenHere({ DATABASE_URL: pooler.url, DATABASE_POOL: '4' });
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => [service.graphql(read), service.graphql(createCategory)]).flat(),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));

  const observer = await connect(cluster.url);
  await observer.query('begin; lock table pets');
  // Some share a connection: those behind the first one are moved to another, and must not go on here.
  const queries = [1, 2, 3].map((id) => `{ pet(id: ${id}) { id } pets { edges { node { name } } } }`);
  const slow = await Promise.all([read, ...queries].map((query) => service.graphql(query)));
  // A cancelled statement ends a moment after its 503.
  await until(async () => (await observer.query(running)).rowCount === 0);
  await observer.end();
  expect(new Set(slow.map(({ status }) => status))).toEqual(new Set([503]));
  expect(slow.every(({ millis }) => millis < 5_000)).toBe(true);
  expect((await service.graphql(read)).status).toBe(200);
  await receiveOwnEvent(service);
  expect(await runSql(pooler.url, 'show statement_timeout')).toEqual([{ statement_timeout: '0' }]);
});

it('behind one that shares sessions and does not know prepared statements it does not start, and says what to change', async () => {
  const pooler = await PgBouncer.start(cluster.url, { pool_mode: 'transaction' });
  const start = createApp(readConfig({ LOG_LEVEL: 'silent', DATABASE_URL: pooler.url }));
  const output = await start.then(() => 'It has started.', explainFailure);
  expect(output).toMatch(/^DATABASE_URL .+: The pooler .+pool_mode = session.+1\.21.+max_prepared_statements/);
  expect(output.split('\n')).toHaveLength(1);
});

it('when it begins to share sessions and to forget prepared statements, requests succeed or are 503, no write is lost or done twice, and it heals', async () => {
  const pooler = await PgBouncer.start(cluster.url, { pool_mode: 'session' });
  const service = await listenHere({ DATABASE_URL: pooler.url, DATABASE_POOL: '6' });
  const before = await categories();
  const load = new MixedLoad(service);
  expect(await load.run(3)).toEqual(new Set([200]));
  for (const changed of [
    { pool_mode: 'transaction', server_reset_query_always: '1' },
    { pool_mode: 'transaction', default_pool_size: '2' },
  ]) {
    await pooler.change(changed);
    for (const status of await load.run(8)) expect([200, 503]).toContain(status);
  }
  await pooler.change({ pool_mode: 'session' });
  await until(async () => !(await load.run(1)).has(503), { maxMillis: 60_000 });
  expect(await load.run(3)).toEqual(new Set([200]));
  expect((await categories()) - before).toBe(load.written);
  await receiveOwnEvent(service);
  await until(async () => (await unlogged()) === 0);
});

async function categories(): Promise<number> {
  const [row] = await cluster.sql('select count(*)::int from categories');
  return row!['count'] as number;
}

/** How many categories have no event, or more than one. */
async function unlogged(): Promise<number> {
  const [row] = await cluster.sql(
    `select count(*)::int from categories where 1 <> (
      select count(*) from events where type = 'category.created' and object_id = categories.id)`,
  );
  return row!['count'] as number;
}
