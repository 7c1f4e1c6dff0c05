import { expect, it } from '@jest/globals';

import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { adminKey } from '../../support/service.ts';
import { listenHere } from '../../support/test-app.ts';
import { awaitValue } from '../../support/until.ts';

const cluster = await startCluster();

const read = '{ pets(first: 5) { edges { node { id name } } } }';
const createCategory = 'mutation { createCategory(input: { name: "Dogs" }) { category { id name } } }';

const service = await listenHere({ DATABASE_URL: cluster.url, DATABASE_POOL: '6' });
const other = await connect(cluster.url);

async function postPet(categoryId: number): Promise<number> {
  return (await service.post('/pets', { name: 'Rex', categoryId })).status;
}

it('a refused statement costs no connection', async () => {
  const sessions = async (): Promise<number> => {
    const { rows } = await other.query(`select sessions::int from pg_stat_database where datname = current_database()`);
    return rows[0].sessions as number;
  };
  expect(await postPet(4711)).toBe(400);
  const before = await sessions();
  for (let n = 0; n < 20; n += 1) expect(await postPet(4711)).toBe(400);
  expect((await sessions()) - before).toBeLessThanOrEqual(2);
});

it('a column whose type is changed under the running service is read on, without an error', async () => {
  expect((await service.graphql(createCategory)).status).toBe(200);
  expect(await postPet(1)).toBe(201);
  for (let n = 0; n < 20; n += 1) expect((await service.graphql(read)).status).toBe(200);
  await other.query(
    'alter table pets alter column name type text collate "C" using name, alter column status type varchar(20)',
  );
  const responses = await Promise.all(Array.from({ length: 40 }, () => service.graphql(read)));
  expect(responses.map(({ status, body }) => [status, body.errors])).toEqual(responses.map(() => [200, undefined]));
});

it('a row that can not be read fails the requests for it, and no others at the same time', async () => {
  expect((await service.graphql(createCategory)).status).toBe(200);
  const created = await Promise.all(
    Array.from({ length: 4 }, () => service.post('/pets', { name: 'Rex', categoryId: 1 })),
  );
  const [unreadable, ...others] = created.map(({ body }) => Number(body.id)) as [number, ...number[]];
  const { rows: columns } = await other.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = 'pets' order by ordinal_position`,
  );
  const unreadableStatus = `case id when ${unreadable} then (1 / (id - ${unreadable}))::text else status end as status`;
  const selected = columns.map(({ name }) => (name === 'status' ? unreadableStatus : name)).join(', ');
  await other.query(`alter table pets rename to stored_pets; create view pets as select ${selected} from stored_pets`);
  const ids = Array.from({ length: 15 }, () => [unreadable, ...others]).flat();
  const responses = await Promise.all(
    ids.map((id) => service.get(`/pets/${id}`, { authorization: `Bearer ${adminKey}` })),
  );
  await other.query('drop view pets; alter table stored_pets rename to pets');
  expect(responses.map(({ status }) => status)).toEqual(ids.map((id) => (id === unreadable ? 500 : 200)));
});

it('reads go on when the server ends their connections', async () => {
  const { rows } = await other.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'petstore-gateway' and state = 'idle'`,
  );
  expect(rows.length).toBeGreaterThan(0);
  const statuses = [];
  for (let n = 0; n < 10; n += 1) statuses.push((await service.graphql(read)).status);
  expect(statuses).toEqual(statuses.map(() => 200));
});

it('a server that has become read-only is 503 for writes, serves reads, and is written to again when it may be', async () => {
  await other.query('alter system set default_transaction_read_only = on');
  await other.query('select pg_reload_conf()');
  const create = () => service.graphql(createCategory);
  const refused = await awaitValue(create, ({ status }) => status !== 200);
  expect({ status: refused.status, code: refused.body.errors[0].extensions.code }).toEqual({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await service.graphql(read)).status).toBe(200);
  await other.query('set default_transaction_read_only = off');
  await other.query('alter system reset default_transaction_read_only');
  await other.query('select pg_reload_conf()');
  const healed = await awaitValue(create, ({ status }) => status === 200);
  expect(healed.body.data.createCategory.category.id).toMatch(/^\d+$/);
});

it('fifty mutations of one request on a database that hangs get a response within 5 seconds', async () => {
  cluster.pause();
  const fields = Array.from(
    { length: 50 },
    (_, n) => `m${n}: createCategory(input: { name: "Late" }) { category { id } }`,
  );
  const response = await service.graphql(`mutation { ${fields.join(' ')} }`);
  cluster.resume();
  expect(response.status).toBe(503);
  expect(response.body.errors).toHaveLength(50);
  expect(response.millis).toBeLessThan(5_000);
});
