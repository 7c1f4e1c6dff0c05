import { expect, it } from '@jest/globals';

import { retryingFetch } from '../../clients/shared/retrying-fetch.ts';
import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { adminKey } from '../../support/service.ts';
import { listenHere } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

const cluster = await startCluster();
// A shorter time-out of the database stays.
await cluster.sql(`alter database postgres set statement_timeout = '600ms'`);
const service = await listenHere({ DATABASE_URL: cluster.url, DATABASE_POOL: '10', LOG_LEVEL: 'info' });
await cluster.sql(`
  insert into categories (name) select 'Dogs' from generate_series(1, 40);
  insert into pets (name, category_id) select 'Rex', 1 from generate_series(1, 40);
  insert into inventory (pet_id) select id from pets;
  insert into orders (pet_id, ship_date) select id, now() from pets;
  alter table orders rename to all_orders;
  create view orders as select * from all_orders where pg_sleep(0.3) is not null;
  -- Whatever looks at a name takes as long as in a store of many millions.
  create or replace function petstore_fold(name text) returns text language plpgsql immutable strict parallel safe as
    $$ begin perform pg_sleep(0.05); return lower(name); end $$`);

const timedOut = { code: 'QUERY_TIMED_OUT', status: 400 };
const search = 'filter: { nameContains: "x" }';

it.each([
  ['a count', `{ pets(${search}) { totalCount } }`, 'the totalCount of pets'],
  ['a search', `{ pets(${search.replace('x', 'zz')}) { nodes { id } } }`, 'a page of pets'],
  ['a search backwards', `{ categories(last: 5, ${search}) { nodes { id } } }`, 'a page of categories'],
  ['a page whose rows take long', '{ orders(first: 2) { nodes { id } } }', 'a page of orders'],
  ['a nested count', `{ category(id: 1) { pets(${search}) { totalCount } } }`, 'the totalCount of pets'],
])('%s that is cut off by its own time is QUERY_TIMED_OUT, which is not repeated', async (_, query, what) => {
  const { status, headers, body } = await service.graphql(query);
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0].extensions).toEqual(timedOut);
  expect(body.errors[0].message).toContain(`Reading ${what} takes the database too long`);
  expect([status, headers.get('retry-after')]).toEqual([200, null]);
  expect(await service.metrics()).toMatch(
    /petstore_graphql_errors_total\{operation="[^"]+",code="QUERY_TIMED_OUT"\} [1-9]/,
  );
});

it('what the operation asks for after it says so too, so that the operation is not repeated', async () => {
  const { status, body } = await service.graphql(`{ pets(${search}) { totalCount nodes { category { id } } } }`);
  const errors = body.errors as { readonly extensions: { readonly code: string } }[];
  expect([status, new Set(errors.map(({ extensions }) => extensions.code))]).toEqual([
    200,
    new Set(['QUERY_TIMED_OUT']),
  ]);
});

it('a client that retries what the guides retry sends it once', async () => {
  const timedOutLines = () => service.log.filter((line) => line.includes('"QUERY_TIMED_OUT"')).length;
  const before = timedOutLines();
  const response = await retryingFetch(`${service.address}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ query: `{ pets(${search}) { totalCount } }` }),
  });
  expect(await response.json()).toMatchObject({ errors: [{ extensions: timedOut }] });
  await until(() => timedOutLines() > before);
  expect(timedOutLines() - before).toBe(1);
});

it('a list that waits for a lock before it is 503, and may be repeated', async () => {
  const holder = await connect(cluster.url);
  await holder.query('set statement_timeout = 0; begin; lock table pets');
  const { status, headers, body } = await service.graphql(`{ pets(${search}) { totalCount } }`);
  await holder.end();
  expect(body.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE', status: 503 } }]);
  expect([status, headers.has('retry-after')]).toEqual([503, true]);
});

it('a single row, a write and REST stay 503', async () => {
  await cluster.sql(`
    create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(10); return new; end $$;
    create trigger slow before update on categories for each row execute function slow()`);
  const { body } = await service.graphql(
    'mutation { updateCategory(input: { id: 1, name: "New" }) { category { id } } }',
  );
  expect(body.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE', status: 503 } }]);
  const { status } = await service.get('/store/orders', { 'x-api-key': adminKey });
  expect(status).toBe(503);
});
