import { expect, it } from '@jest/globals';

import { MixedLoad } from '../faults/mixed-load.ts';
import { receiveOwnEvent } from '../faults/own-event.ts';
import { PgBouncer } from '../faults/database/pgbouncer.ts';
import { connect, runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

// PgBouncer 1.21 or newer: it knows prepared statements in transaction mode.

const cluster = await startCluster();

const observer = await connect(cluster.url);

const sharing = { pool_mode: 'transaction', default_pool_size: '3' };

it('in transaction mode it serves over fewer connections than it has, sets nothing, and ends statements that take too long', async () => {
  const pooler = await PgBouncer.start(cluster.url, { ...sharing, max_prepared_statements: '200' });
  const services = await Promise.all([1, 2].map(() => Service.start({ DATABASE_URL: pooler.url, DATABASE_POOL: '6' })));
  const loads = services.map((service) => new MixedLoad(service));
  for (const statuses of await Promise.all(loads.map((load) => load.run(20)))) {
    expect(statuses).toEqual(new Set([200]));
  }
  const { rows: created } = await observer.query('select count(*)::int from categories');
  expect(created[0].count).toBe(loads.reduce((sum, { written }) => sum + written, 0));

  await observer.query('begin; lock table pets');
  const slow = await Promise.all(
    services.flatMap((service) =>
      ['{ pet(id: 1) { id } }', '{ pets { totalCount } }'].map((query) => service.graphql(query)),
    ),
  );
  await observer.query('rollback');
  expect(slow.map(({ status, millis }) => [status, millis < 5_000])).toEqual(slow.map(() => [503, true]));
  const { rows } = await observer.query(
    `select query from pg_stat_activity where application_name = 'petstore-gateway' and state = 'active'
     and wait_event_type is distinct from 'Client' and query not like '%petstore_move_events%'`,
  );
  expect(rows).toEqual([]);
  for (const load of loads) expect(await load.run(3)).toEqual(new Set([200]));
  for (const service of services) await receiveOwnEvent(service);

  expect(await runSql(pooler.url, 'show statement_timeout')).toEqual([{ statement_timeout: '0' }]);
  for (const service of services) await service.kill();
  await pooler.stop();
});

it('its prepared statements are switched off under the running service: requests succeed or are 503, and it heals', async () => {
  const pooler = await PgBouncer.start(cluster.url, { ...sharing, max_prepared_statements: '200' });
  const service = await Service.start({ DATABASE_URL: pooler.url, DATABASE_POOL: '6' });
  const load = new MixedLoad(service);
  expect(await load.run(3)).toEqual(new Set([200]));
  await pooler.change({ ...sharing, max_prepared_statements: '0' });
  for (const status of await load.run(8)) expect([200, 503]).toContain(status);
  await pooler.change({ ...sharing, max_prepared_statements: '200' });
  await until(async () => !(await load.run(1)).has(503), { maxMillis: 60_000 });
  expect(await load.run(3)).toEqual(new Set([200]));
  await service.kill();
  await pooler.stop();
});

it('without max_prepared_statements it is refused at the start', async () => {
  const pooler = await PgBouncer.start(cluster.url, { ...sharing, max_prepared_statements: '0' });
  const service = new Service({ DATABASE_URL: pooler.url });
  expect(await service.ended()).toBe(1);
  expect(service.output).toMatch(/max_prepared_statements = 200\.$/);
  await pooler.stop();
});
