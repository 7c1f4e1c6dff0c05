import { expect, it } from '@jest/globals';

import { withClient } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const cluster = await startCluster();
const service = await Service.start({ DATABASE_URL: cluster.url, DRAIN_DELAY: '3s', DRAIN_TIMEOUT: '4s' });

const createCategory = 'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }';

const sql = async (...statements: string[]): Promise<void> => {
  // An open session may be read-only by default.
  await withClient(cluster.url, async (client) => {
    await client.query('set default_transaction_read_only = off');
    for (const statement of statements) await client.query(statement);
  });
};

/** PostgreSQL refuses a write as on a full disk, and has no room for the probe's file. */
const fillDisk = async (): Promise<void> => {
  await sql(
    `create function refuse() returns trigger language plpgsql
       as $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`,
    'create trigger refuse before insert on categories execute function refuse()',
    'alter system set temp_file_limit = 0',
    'select pg_reload_conf()',
  );
  const { status } = await service.graphql(createCategory);
  expect(status).toBe(503);
};

// That no connection becomes free is shown in `leases.test.ts`, on a database without a service.
it.each([
  {
    cause: "The database can't be reached, or doesn't respond in time.",
    begin: async () => cluster.stop(),
    end: async () => cluster.start(),
  },
  {
    cause: 'The database takes no writes.',
    begin: () => sql('alter system set default_transaction_read_only = on', 'select pg_reload_conf()'),
    end: () => sql('alter system reset default_transaction_read_only', 'select pg_reload_conf()'),
  },
  {
    cause: 'Migrations are missing in the database: 1.',
    begin: () =>
      sql(
        'create table missing as select * from petstore_migrations order by id desc limit 1',
        'delete from petstore_migrations where id in (select id from missing)',
      ),
    end: () => sql('insert into petstore_migrations select * from missing', 'drop table missing'),
  },
  {
    cause: 'The disk of the database is full.',
    begin: fillDisk,
    end: () => sql('alter system reset temp_file_limit', 'select pg_reload_conf()', 'drop function refuse cascade'),
  },
])('/readyz is 503 and says why: $cause', async ({ cause, begin, end }) => {
  const ready = (): ReturnType<Service['get']> => service.get('/readyz');
  await until(async () => (await ready()).status === 200);
  await begin();
  await until(async () => (await ready()).body.reasons?.[0] === cause);
  const { status, headers, body } = await ready();
  const withoutDatabase = await service.get('/readyz?exclude=database');
  await end();
  expect({ status, body }).toEqual({ status: 503, body: { status: 'unavailable', reasons: [cause] } });
  expect(withoutDatabase.status).toBe(cause.startsWith('Migrations') ? 503 : 200);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  await until(async () => (await ready()).status === 200);
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s ends a start that waits for a database, with 0',
  async (signal) => {
    const waiting = new Service({ DATABASE_URL: 'postgresql://postgres@127.0.0.1:1,[::1]:1/postgres' });
    await waiting.line(/Waiting for a server/);
    waiting.signal(signal);
    expect(await waiting.ended()).toBe(0);
  },
);

/** Sends the signal in the tick in which the service begins to drain on signals instead of exiting. */
const signalled = `data:text/javascript,process.prependListener('removeListener', (name) => {
  if (name === 'SIGTERM') process.kill(process.pid, name);
})`;

it('SIGTERM at the very moment at which the service is complete ends it, with 0', async () => {
  const command = `node --import "${signalled.replaceAll(/\s+/g, '%20')}" dist/src/main.js`;
  const complete = new Service({ DATABASE_URL: cluster.url, DRAIN_TIMEOUT: '1s' }, { command });
  await complete.line(/"draining"/);
  expect(await complete.ended()).toBe(0);
});

// A closed terminal sends SIGHUP, and systemd right after SIGTERM where SendSIGHUP says so: the kernel delivers it first.
it('/readyz is 503 while the service shuts down, and requests are still served; it ends in time while the database is stopped, and SIGHUP never counts as the second signal that ends a drain', async () => {
  await until(async () => (await service.get('/readyz')).status === 200);
  service.signal('SIGHUP');
  await until(async () => (await service.get('/readyz')).body.reasons?.[0] === 'The service is shutting down.');
  service.signal('SIGTERM');
  service.signal('SIGHUP');
  expect((await service.graphql('{ pets { totalCount } }')).status).toBe(200);
  expect((await service.graphql(createCategory)).status).toBe(200);
  cluster.pause();
  const started = performance.now();
  expect(await service.ended()).toBe(0);
  cluster.resume();
  // The delay and twice the timeout, for a busy machine.
  expect(performance.now() - started).toBeLessThan(3_000 + 2 * 4_000);
});
