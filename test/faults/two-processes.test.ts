import { execFileSync } from 'node:child_process';

import { expect, it } from '@jest/globals';

import { connectDatabase, type Database } from '../../src/database/database.ts';
import type { EventPosition } from '../../src/domain/events/event.ts';
import { eventStream, multipart, openStream, type ClientStream } from '../graphql/streams/stream-client.ts';
import { connect, runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { path } from '../support/running-command.ts';
import { adminKey, codesOf, Service } from '../support/service.ts';
import { listenHere } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { testCaller } from '../support/caller.ts';

const cluster = await startCluster();
const settings = { DATABASE_URL: cluster.url, DATABASE_POOL: '2', LOG_LEVEL: 'silent' };
/** Two processes, which start at the same time on an empty database. */
const services = await Promise.all([1, 2].map(() => Service.start(settings)));

/** The names of created categories, in the order of the log. */
async function logged(): Promise<unknown[]> {
  const rows = await cluster.sql(
    `select body ->> 'name' as name from events where type = 'category.created' order by position`,
  );
  return rows.map(({ name }) => name);
}

it('two processes that start at the same time on an empty database migrate it once', async () => {
  const { body } = await services[0]!.post('/categories', { name: 'Dogs' });
  for (const service of services) {
    expect((await service.get('/readyz')).status).toBe(200);
    const found = await service.graphql('query ($id: ID!) { category(id: $id) { name } }', { id: body.id });
    expect(found.body).toEqual({ data: { category: { name: 'Dogs' } } });
  }
});

it('two processes carry out 20 requests with one Idempotency-Key once between them', async () => {
  const sendAll = (to: string, body: object) =>
    Promise.all(
      Array.from({ length: 20 }, (_, n) => services[n % 2]!.post(to, body, { 'idempotency-key': `key of ${to}` })),
    );
  const rest = await sendAll('/categories', { name: 'REST' });
  const graphql = await sendAll('/graphql', {
    query: 'mutation { createCategory(input: { name: "GraphQL" }) { category { id } } }',
  });
  expect([...new Set(rest.map(({ status }) => status))].filter((status) => status !== 409)).toEqual([201]);
  const codes = graphql.flatMap(({ body }) => codesOf(body));
  expect(codes.filter((code) => code !== 'CONFLICT')).toEqual([]);
  const rows = await cluster.sql(
    `select name, count(*)::int as n from categories where name in ('REST', 'GraphQL') group by name order by name`,
  );
  expect(rows).toEqual([
    { name: 'GraphQL', n: 1 },
    { name: 'REST', n: 1 },
  ]);
});

it('kill -9 of the process that moves, and of PostgreSQL, loses no event and repeats none', async () => {
  const acknowledged: string[] = [];
  const unsure: string[] = [];
  for (const [round, killed] of [0, 'PostgreSQL', 1].entries()) {
    for (let n = 0; n < 10; n += 1) {
      const name = `round ${round} ${n}`;
      try {
        await cluster.sql(`insert into categories (name) values ('${name}')`);
        acknowledged.push(name);
      } catch {
        unsure.push(name);
      }
      // In the middle of the round, so that changes wait.
      if (n !== 5) continue;
      if (typeof killed === 'number') {
        await services[killed]!.kill();
        services[killed] = await Service.start(settings);
      } else {
        await takeIdsThatAreLost();
        cluster.stop();
        cluster.start();
      }
    }
  }
  await until(async () => (await cluster.sql('select from event_outbox')).length === 0);
  const names = (await logged()).map(String).filter((name) => name.startsWith('round') && !unsure.includes(name));
  expect(names).toEqual(acknowledged);
  expect(acknowledged.length).toBeGreaterThanOrEqual(27);
});

/** The sequences go back with the crash: what has taken their values is in no log that is on disk. */
async function takeIdsThatAreLost(): Promise<void> {
  const lost = await connect(cluster.url);
  await lost.query(`begin; insert into categories (name) select 'lost' from generate_series(1, 500)`);
}

it.each([
  ['revoked', 'UNAUTHENTICATED', 'revokeApiKey(input: { id: $id })'],
  ['banned', 'KEY_BANNED', 'banApiKey(input: { id: $id, seconds: 60 })'],
])('a stream whose key is %s by another process ends within a second', async (_how, code, mutation) => {
  const create = 'mutation { createApiKey(input: { name: "streams", plan: PRO }) { secret apiKey { id } } }';
  const { secret, apiKey } = (await services[0]!.graphql(create)).body.data.createApiKey;
  const query = 'subscription { events { id } }';
  // The process that follows the keys of the other one may not know it yet.
  let stream = await openStream(services[1]!.address, secret, { query }, eventStream);
  await until(async () => {
    if (stream.status !== 200) stream = await openStream(services[1]!.address, secret, { query }, eventStream);
    return stream.status === 200;
  });
  await services[0]!.graphql(`mutation ($id: ID!) { ${mutation} { apiKey { id } } }`, { id: apiKey.id });
  const startedAt = performance.now();
  await stream.ended();
  // Five times as long on a machine that does other things.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(stream.results().at(-1)).toMatchObject({ errors: [{ extensions: { code } }] });
});

it('a transaction that stays open, in this database or in another one of the server, delays no event of others', async () => {
  await cluster.sql('create database other');
  const url = new URL(cluster.url);
  url.pathname = '/other';
  const holders = await Promise.all([connect(url.href), connect(cluster.url)]);
  await holders[0].query('begin isolation level repeatable read; select pg_current_xact_id()');
  await holders[1].query(`begin isolation level repeatable read; insert into categories (name) values ('held open')`);
  await cluster.sql(`insert into categories (name) values ('not delayed')`);
  await until(async () => (await logged()).at(-1) === 'not delayed');
  await holders[1].query('commit');
  await until(async () => (await logged()).at(-1) === 'held open');
  expect((await logged()).slice(-2)).toEqual(['not delayed', 'held open']);
  await Promise.all(holders.map((holder) => holder.end()));
});

it('after a restored backup the readers that were further begin again, and the others read on', async () => {
  const original = await connectDatabase({ location: cluster.url, poolSize: 2 });
  const add = async (database: Database, url: string, name: string): Promise<EventPosition> => {
    const stores = database.stores.for(testCaller);
    const before = await stores.events.last();
    await runSql(url, `insert into categories (name) values ('${name}')`);
    await until(async () => (await stores.events.last()) !== before);
    return stores.events.last();
  };
  const inBackup = await add(original, cluster.url, 'in the backup');
  const dump = execFileSync('pg_dump', [cluster.url], { env: { PATH: path }, maxBuffer: 2 ** 26 });
  const lost = await add(original, cluster.url, 'lost');
  await original.close();

  await cluster.sql('create database restored');
  const url = new URL(cluster.url);
  url.pathname = '/restored';
  execFileSync('psql', [url.href, '--quiet', '--set=ON_ERROR_STOP=1'], { env: { PATH: path }, input: dump });
  await listenHere({ DATABASE_URL: url.href, DATABASE_POOL: '2' });
  const restored = await connectDatabase({ location: url.href, poolSize: 2 });
  const again = await add(restored, url.href, 'in its place');
  expect(again.split(':')[0]).toBe(lost.split(':')[0]);
  expect(await restored.stores.for(testCaller).events.readAfter(lost, 10)).toMatchObject({
    isKnown: false,
    events: [],
  });
  const { isKnown, events } = await restored.stores.for(testCaller).events.readAfter(inBackup, 10);
  expect([isKnown, events.map(({ subject }) => subject?.row)]).toEqual([
    true,
    [expect.objectContaining({ name: 'in its place' })],
  ]);
  await restored.close();
});

const body = { query: 'subscription { events { id type object { ... on Category { name } } } }' };
const openBoth = (service: Service): Promise<ClientStream[]> =>
  Promise.all([eventStream, multipart].map((accept) => openStream(service.address, adminKey, body, accept)));
const namesIn = (stream: ClientStream): string[] =>
  stream.results().flatMap(({ data }) => data?.events.object?.name ?? []);

it('streams stay open while the database is gone, and go on without a gap when it is back', async () => {
  const streams = await openBoth(services[0]!);
  await cluster.sql(`insert into categories (name) values ('before')`);
  for (const stream of streams) await until(() => namesIn(stream).length === 1);
  cluster.stop();
  await until(async () => (await services[0]!.get('/readyz')).status === 503);
  cluster.start();
  await cluster.sql(`insert into categories (name) values ('after'), ('and after')`);
  for (const stream of streams) {
    await until(() => namesIn(stream).length === 3);
    expect([namesIn(stream), stream.isEnded()]).toEqual([['before', 'after', 'and after'], false]);
    stream.close();
  }
});

it('SIGTERM ends open streams with a message, and the process does not wait for their hour', async () => {
  const service = services[0]!;
  const streams = await openBoth(service);
  expect(await service.stop()).toBe(0);
  for (const stream of streams) {
    await stream.ended();
    expect(stream.results().at(-1)).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
  }
});
