import { describe, expect, it } from '@jest/globals';

import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { listenHere } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

/** A lost database is reported within this time. */
const maxMillis = 5_000;

const cluster = await startCluster();

const service = await listenHere({ DATABASE_URL: cluster.url, DATABASE_POOL: '4' });

const read = '{ pets(first: 1) { totalCount } }';
const write = 'mutation { createCategory(input: { name: "Late" }) { category { id } } }';
/** More of them than there are connections: none may get lost with its transaction. */
const changes = Array.from(
  { length: 4 },
  () => 'mutation { updateCategory(input: { id: 1, name: "Later" }) { category { id } } }',
);

async function untilReady(): Promise<void> {
  await until(async () => (await service.get('/readyz')).status === 200, { maxMillis: 60_000 });
}

describe.each([
  { loss: 'has crashed', lose: () => cluster.stop(), bring: () => cluster.start() },
  { loss: 'hangs', lose: () => cluster.pause(), bring: () => cluster.resume() },
])('a database that $loss', ({ lose, bring }) => {
  it('is 503 with Retry-After within 5 seconds for reads and writes, many at once too; back by itself when it is back', async () => {
    // Connections that are open when it happens, and some that have yet to be made.
    expect((await service.graphql(read)).status).toBe(200);
    expect((await service.graphql(write)).status).toBe(200);
    lose();
    const asked = [read, write, ...changes, read, write];
    const responses = await Promise.all(asked.map((query) => service.graphql(query)));
    const ready = await service.get('/readyz');
    const health = await service.get('/healthz');
    bring();
    for (const { status, headers, body, millis } of responses) {
      expect({ status, code: body.errors[0].extensions.code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(millis).toBeLessThan(maxMillis);
      expect(JSON.stringify(body)).not.toMatch(/ECONN|terminat|timeout|postgres|127\.0\.0\.1/i);
    }
    expect([ready.status, health.status]).toEqual([503, 200]);
    expect(ready.body.reasons).toEqual([
      expect.stringMatching(/^(?:The database can't be reached|The store takes too long)/),
    ]);
    await untilReady();
    expect(await service.graphql(read)).toMatchObject({ status: 200, body: { data: { pets: { totalCount: 0 } } } });
    expect((await service.graphql(write)).body.data.createCategory.category.id).toMatch(/^\d+$/);
    for (const { status, body } of await Promise.all(changes.map((query) => service.graphql(query)))) {
      expect({ status, body }).toEqual({ status: 200, body: { data: { updateCategory: { category: { id: '1' } } } } });
    }
  });
});

it('what waits for a locked table is 503, none longer than the first one, and the server does not go on with it', async () => {
  const other = await connect(cluster.url);
  await other.query('begin; lock table pets');
  const queries = Array.from({ length: 20 }, (_, n) => [
    `{ pets(first: ${1 + n}) { edges { node { name } } } }`,
    `{ pet(id: ${n}) { name } }`,
  ]);
  const responses = await Promise.all([read, ...queries.flat()].map((query) => service.graphql(query)));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
  expect(Math.max(...responses.map(({ millis }) => millis))).toBeLessThan(maxMillis);
  const going = `select from pg_stat_activity where application_name = 'petstore-gateway' and wait_event = 'relation'
    and query not like '%petstore_move_events%'`;
  await until(async () => (await other.query(going)).rowCount === 0);
  await other.end();
  expect((await service.graphql(read)).status).toBe(200);
});
