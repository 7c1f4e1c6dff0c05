import { expect, it } from '@jest/globals';

import { runSql, withClient } from '../support/postgres-client.ts';
import { adminKey, Service } from '../support/service.ts';
import { awaitValue, until } from '../support/until.ts';
import { Pair } from './pair.ts';

const acknowledged: string[] = [];
const statuses = new Set<number>();
let writes = 0;

const pair = await Pair.start();
// Whichever of both is the standby serves reads.
const service = await Service.start({
  DATABASE_URL: pair.urlOf(),
  DATABASE_POOL: '6',
  DATABASE_REPLICAS: pair.hosts,
});
await runSql(pair.primary.url, `insert into categories (name) values ('Dogs')`);

/** Creates a pet, with the same key until it is known to be there, as a client should. */
async function write(): Promise<number> {
  writes += 1;
  const name = `pet ${writes}`;
  const headers = { 'idempotency-key': name };
  const send = async (): Promise<number> => {
    const { status } = await service.post('/pets', { name, categoryId: 1 }, headers);
    statuses.add(status);
    if (![201, 409, 503].includes(status)) throw new Error(`${name}: ${status}`);
    return status;
  };
  const status = await awaitValue(send, (seen) => seen === 201, { maxMillis: 60_000 });
  acknowledged.push(name);
  return status;
}

async function writesAndReads(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await write();
    const { status } = await service.get('/pets/1', { authorization: `Bearer ${adminKey}` });
    expect([200, 503]).toContain(status);
  }
}

async function isReady(): Promise<boolean> {
  return (await service.get('/readyz')).status === 200;
}

async function metric(name: string): Promise<string> {
  return (await service.metrics())
    .split('\n')
    .filter((line) => line.startsWith(name))
    .join('\n');
}

/** The old primary ends, the standby is promoted, and the old primary comes back as its standby at the same port. */
async function failOver(): Promise<void> {
  await pair.untilReplicated();
  pair.primary.stop();
  // A check of `/readyz` holds for a second.
  await until(async () => !(await isReady()));
  const [read, health] = await Promise.all([
    service.graphql('{ pets(first: 1) { totalCount } }'),
    service.get('/healthz'),
  ]);
  expect([read.status, health.status]).toEqual([503, 200]);
  expect(Number(read.headers.get('retry-after'))).toBeGreaterThan(0);
  pair.switchRoles();
}

it('goes to the server that takes writes, whatever the order of the hosts', async () => {
  await writesAndReads(5);
  expect(await metric('petstore_database_server')).toContain(
    `{host="127.0.0.1:${pair.standby.port}",role="standby"} 1`,
  );
  expect(await metric('petstore_database_server')).toContain(
    `{host="127.0.0.1:${pair.primary.port}",role="primary"} 1`,
  );
});

it('follows two fail-overs without a restart: every acknowledged write is there once, and nothing else than 503 is seen', async () => {
  for (const count of [1, 2]) {
    await failOver();
    await until(isReady);
    await writesAndReads(10);
    expect(await metric('petstore_database_failovers_total')).toBe(`petstore_database_failovers_total ${count}`);
  }
  const rows = await runSql(pair.primary.url, 'select name from pets order by id');
  expect(rows.map(({ name }) => name)).toEqual(acknowledged);
  expect([...statuses].filter((status) => ![201, 409, 503].includes(status))).toEqual([]);
  const changes = service.output
    .split('\n')
    .filter((line) => line.includes('the database is written to on another server'));
  expect(changes).toHaveLength(2);
});

it('uses no connection to a server that turned read-only, and is ready again when it takes writes', async () => {
  await runSql(pair.primary.url, 'alter system set default_transaction_read_only = on');
  await runSql(pair.primary.url, 'select pg_reload_conf()');
  await until(async () => (await service.get('/readyz')).body.reasons?.[0] === 'The database takes no writes.');
  const read = await service.get('/pets/1', { authorization: `Bearer ${adminKey}` });
  const change = await service.post('/pets', { name: 'Late', categoryId: 1 });
  expect([read.status, change.status]).toEqual([503, 503]);
  await withClient(pair.primary.url, async (client) => {
    await client.query('set default_transaction_read_only = off');
    await client.query('alter system reset default_transaction_read_only');
  });
  await runSql(pair.primary.url, 'select pg_reload_conf()');
  await until(isReady);
  await writesAndReads(2);
});

it.each([
  ['a statement', {}],
  ['a transaction', { 'idempotency-key': 'unconfirmed' }],
])(
  'acknowledges no commit of %s whose wait for a standby was cancelled',
  async (_, headers: Record<string, string>) => {
    const settings = async (...changes: string[]): Promise<void> => {
      for (const change of changes) await runSql(pair.primary.url, `alter system ${change}`);
      await runSql(pair.primary.url, 'select pg_reload_conf()');
    };
    // A synchronous standby that never comes.
    await settings(`set synchronous_standby_names = 'absent'`);
    let status: number | undefined;
    const writing = service.post('/pets', { name: 'Unconfirmed', categoryId: 1 }, headers).then((response) => {
      status = response.status;
    });
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
    await withClient(pair.primary.url, (client) =>
      until(async () => (await client.query(cancel)) && status !== undefined),
    );
    await writing;
    expect(status).toBe(503);
    await settings('reset synchronous_standby_names');
    await until(
      async () => (await service.post('/pets', { name: 'Unconfirmed', categoryId: 1 }, headers)).status === 201,
    );
  },
);

it('a start waits for a server that takes writes, and says so', async () => {
  const waiting = new Service({ DATABASE_URL: pair.standby.url });
  const [line] = await waiting.line(/.*Waiting for a server that takes writes/);
  expect(line).toContain(`127.0.0.1:${pair.standby.port} is a standby`);
  pair.primary.stop();
  pair.standby.promote();
  await waiting.line(/^The store is open at/);
  await waiting.stop();
  pair.primary.start();
});
