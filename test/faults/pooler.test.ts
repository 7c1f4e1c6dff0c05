import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';

import { PostgresCluster } from '../support/postgres-cluster.ts';
import { PgBouncer } from './pgbouncer.ts';
import { Service } from './service.ts';

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.create();
});

afterAll(() => cluster.remove());

const createCategory = 'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }';
const running = `select from pg_stat_activity where application_name = 'petstore-gateway' and state = 'active'`;
const read = '{ pets(first: 5) { totalCount edges { node { id name } } } }';

it('behind PgBouncer in session mode it serves, sets nothing, and ends statements that take too long', async () => {
  const pooler = await PgBouncer.start(cluster.url, { pool_mode: 'session' });
  const service = await Service.start({ DATABASE_URL: pooler.url, DATABASE_POOL: '4' });
  expect(service.output).toMatch(/The store is open/);
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => [service.graphql(read), service.graphql(createCategory)]).flat(),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));

  const observer = new pg.Client({ connectionString: cluster.url });
  await observer.connect();
  await observer.query('begin; lock table pets');
  const slow = await Promise.all(['{ pet(id: 1) { id } }', read].map((query) => service.graphql(query)));
  // A cancelled statement ends a moment after its 503.
  while ((await observer.query(running)).rowCount !== 0);
  await observer.end();
  expect(slow.map(({ status }) => status)).toEqual([503, 503]);
  expect(slow.every(({ millis }) => millis < 5_000)).toBe(true);
  expect((await service.graphql(read)).status).toBe(200);

  const neighbour = new pg.Client({ connectionString: pooler.url });
  await neighbour.connect();
  expect((await neighbour.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '0' }]);
  await neighbour.end();
  await service.stop();
  await pooler.stop();
});

it('behind one that shares sessions and does not know prepared statements it does not start, and says what to change', async () => {
  const pooler = await PgBouncer.start(cluster.url, { pool_mode: 'transaction' });
  const service = await Service.start({ DATABASE_URL: pooler.url });
  expect(await service.ended()).toBe(1);
  expect(service.output).toMatch(
    /^petstore-gateway can't start: The pooler .+pool_mode = session.+1\.21.+max_prepared_statements/,
  );
  expect(service.output.split('\n')).toHaveLength(1);
  await pooler.stop();
});
