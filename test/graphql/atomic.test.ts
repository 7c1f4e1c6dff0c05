import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';

import { startTestApp, type GraphQLResult } from '../support/test-app.ts';
import { until } from '../support/until.ts';

const service = await startTestApp();
await service.sql(`insert into categories (id, name) values (1, 'Dogs')`);
await service.sql(`insert into pets (id, name, category_id) values (1, 'Rex', 1), (2, 'Max', 1)`);
await service.sql('insert into inventory (pet_id, quantity) values (1, 5), (2, 1000)');

/**
 * As a client sends it: again while the database is busy, which on one connection and a slow machine may be after 500
 * ms.
 */
async function send(query: string, key?: string, secret = service.key): Promise<GraphQLResult> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  for (let tries = 1; ; tries += 1) {
    const result = await service.graphql(query, {}, secret, headers);
    if (result.status !== 503 || tries === 5) return result;
  }
}

const failuresIn = ({ errors }: GraphQLResult) =>
  errors.map(({ path, extensions: { code, status } }) => [path?.join('.'), code, status]);

async function rows(): Promise<unknown> {
  const [row] = await service.sql(
    `select (select count(*)::int from orders) as orders, (select sum(quantity)::int from inventory) as stock,
            (select string_agg(status, ',' order by id) from pets) as status`,
  );
  return row;
}

const order = 'createOrder(input: { petId: 1, quantity: 1 }) { order { id } }';
const sell = (quantity: number) =>
  `updateInventory(input: { petId: 1, quantity: ${quantity} }) { inventoryItem { quantity status pet { name status } } }`;
const sold =
  'updatePet(input: { id: 1, status: SOLD }) { pet { status inventory { quantity status } orders { totalCount } } }';
const fails = 'createOrder(input: { petId: 404 }) { order { id } }';

it('carries out all root fields in one transaction, each payload as it is after its own field', async () => {
  service.forgetStatements();
  const { data, errors } = await send(`mutation Sell @atomic { __typename ${order} ${sell(4)} ${sold} }`);
  expect(errors).toEqual([]);
  expect(data.__typename).toBe('Mutation');
  expect(data.updateInventory.inventoryItem).toEqual({
    quantity: 4,
    status: 'AVAILABLE',
    pet: { name: 'Rex', status: 'AVAILABLE' },
  });
  expect(data.updatePet.pet).toEqual({
    status: 'SOLD',
    inventory: { quantity: 4, status: 'SOLD' },
    orders: { totalCount: 1 },
  });
  // A try before it was rolled back.
  const statements = service.statements.slice(service.statements.lastIndexOf('begin'));
  expect(statements.filter((sql) => ['begin', 'commit', 'rollback'].includes(sql))).toEqual(['begin', 'commit']);
  // What isn't on the written rows themselves is read when no row is locked any more.
  const afterwards = statements.slice(statements.indexOf('commit') + 1);
  expect(afterwards).toEqual([expect.stringContaining('count(*), orders.pet_id')]);
});

it.each([
  ['the first', `a: ${fails} b: ${order} c: ${sell(1)}`, 'a'],
  ['one in between', `a: ${order} b: ${fails} c: ${sell(1)}`, 'b'],
  ['the last', `a: ${order} b: ${sell(1)} c: ${fails}`, 'c'],
])('carries out nothing when %s fails: the others are ABORTED and name it', async (_which, fields, failed) => {
  const before = await rows();
  const response = await send(`mutation @atomic { ${fields} }`);
  expect([response.status, response.data]).toEqual([200, { a: null, b: null, c: null }]);
  expect(failuresIn(response)).toEqual(
    ['a', 'b', 'c'].map((key) => (key === failed ? [key, 'BAD_USER_INPUT', 400] : [key, 'ABORTED', 409])),
  );
  for (const { path, message } of response.errors) if (path?.[0] !== failed) expect(message).toContain(` ${failed} `);
  expect(await rows()).toEqual(before);
});

it('is aborted by arguments and scopes that are refused before a field is resolved', async () => {
  const before = await rows();
  const { secret } = await service.createKey({ scopes: ['read', 'write'] });
  const response = await send(
    `mutation @atomic { ${order} revokeApiKey(input: { id: 1 }) { apiKey { id } } }`,
    undefined,
    secret,
  );
  expect(failuresIn(response)).toEqual([
    ['createOrder', 'ABORTED', 409],
    ['revokeApiKey', 'FORBIDDEN', 403],
  ]);
  const { data, errors } = await service.graphql(
    `mutation ($input: UpdatePetInput = { id: 1, name: "New" }) @atomic { ${order} updatePet(input: $input) { pet { id } } }`,
    { input: null },
  );
  expect([data?.createOrder ?? null, errors.length > 0]).toEqual([null, true]);
  expect(await rows()).toEqual(before);
});

it('an error below a payload does not abort', async () => {
  const { data, errors } = await send(
    `mutation @atomic { updatePet(input: { id: 1, status: SOLD }) { pet { id orders(first: -1) { totalCount } } } ${order} }`,
  );
  expect(errors.map(({ path }) => path)).toEqual([['updatePet', 'pet', 'orders']]);
  expect([data.updatePet.pet, data.createOrder.order.id]).toEqual([{ id: '1', orders: null }, expect.any(String)]);
});

it('a statement that fails below a payload does not abort, and what is read after it is there', async () => {
  await service.sql('alter table orders rename to orders_away');
  const { data, errors } = await send(
    `mutation @atomic {
       a: updatePet(input: { id: 1, name: "Kept" }) { pet { name orders { totalCount nodes { id } } category { name } } }
       b: updatePet(input: { id: 2, name: "Too" }) { pet { name inventory { quantity } } }
     }`,
  );
  await service.sql('alter table orders_away rename to orders');
  expect([
    ...new Set(errors.map(({ path, extensions }) => [path?.slice(0, 3).join('.'), extensions.code].join())),
  ]).toEqual(['a.pet.orders,INTERNAL_SERVER_ERROR']);
  expect(data).toMatchObject({
    a: { pet: { name: 'Kept', category: { name: 'Dogs' } } },
    b: { pet: { name: 'Too', inventory: { quantity: 1000 } } },
  });
  expect(await service.sql('select name from pets where id < 3 order by id')).toEqual([
    { name: 'Kept' },
    { name: 'Too' },
  ]);
});

it("an earlier field's change counts for a later ifVersion", async () => {
  const { data } = await send('{ pet(id: 1) { version inventory { version } } }');
  const change = (version: string) =>
    send(`mutation @atomic {
      updatePet(input: { id: 1, status: PENDING, ifVersion: "${data.pet.version}" }) { pet { version inventory { version } } }
      updateInventory(input: { petId: 1, quantity: 3, ifVersion: "${version}" }) { inventoryItem { quantity } }
    }`);
  expect(failuresIn(await change(data.pet.inventory.version))).toEqual([
    ['updatePet', 'ABORTED', 409],
    ['updateInventory', 'PRECONDITION_FAILED', 412],
  ]);
  await send('mutation { updatePet(input: { id: 1, status: PENDING }) { pet { id } } }');
  const pending = (await send('{ inventoryItem(petId: 1) { version } }')).data.inventoryItem.version;
  await send(`mutation { updatePet(input: { id: 1, status: SOLD }) { pet { id } } }`);
  expect((await change(pending)).errors).toEqual([]);
});

it('takes at most 20 root fields, and costs what it costs without', async () => {
  const many = (n: number, directive: string) =>
    send(
      `mutation ${directive} { ${Array.from({ length: n }, (_, i) => `f${i}: createOrder(input: {}) { order { id } }`).join(' ')} }`,
    );
  const refused = await many(21, '@atomic');
  expect([refused.status, refused.codes]).toEqual([400, ['BAD_USER_INPUT']]);
  expect(refused.errors[0]?.message).toContain('20');
  const accepted = await many(20, '@atomic');
  expect(accepted.errors).toEqual([]);
  expect((await many(20, '')).headers['x-ratelimit-cost']).toBe(accepted.headers['x-ratelimit-cost']);
  expect((await send('query @atomic { pets { totalCount } }')).status).toBe(400);
});

describe('with an Idempotency-Key', () => {
  const sale = (quantity = 2) => `mutation @atomic { a: ${order} b: ${sell(quantity)} }`;

  it('is one record, replayed as a whole', async () => {
    const key = randomUUID();
    const first = await send(sale(), key);
    const before = await rows();
    await send('mutation { updatePet(input: { id: 1, name: "Moritz" }) { pet { id } } }');
    const second = await send(sale(), key);
    expect([first.errors, first.replayed, second.errors]).toEqual([[], [], []]);
    expect([second.replayed, second.headers['idempotent-replayed']]).toEqual([['a', 'b'], 'true']);
    expect(second.data.a).toEqual(first.data.a);
    expect(second.data.b.inventoryItem).toMatchObject({ quantity: 2, pet: { name: 'Moritz' } });
    expect(await rows()).toEqual(before);
  });

  it('refuses all for other names, fields or inputs, and for the same without @atomic', async () => {
    const key = randomUUID();
    await send(sale(), key);
    for (const other of [
      sale(9),
      `mutation @atomic { b: ${sell(2)} a: ${order} }`,
      `mutation @atomic { a: ${order} }`,
      `mutation @atomic { a: ${order} c: ${sell(2)} }`,
      sale().replace(' @atomic', ''),
    ]) {
      const { data, codes } = await send(other, key);
      expect(Object.values(data).filter((payload) => payload !== null)).toEqual([]);
      expect([...new Set(codes)]).toEqual(['IDEMPOTENCY_KEY_REUSED']);
    }
  });

  it('refuses a key that has records of single fields, or of REST', async () => {
    const single = randomUUID();
    await send(`mutation { other: ${order} }`, single);
    expect(failuresIn(await send(sale(), single))).toEqual([
      ['a', 'IDEMPOTENCY_KEY_REUSED', 422],
      ['b', 'IDEMPOTENCY_KEY_REUSED', 422],
    ]);
    const whole = randomUUID();
    await send(sale(), whole);
    expect((await service.ask('POST', '/store/orders', {}, { 'idempotency-key': whole })).status).toBe(422);
  });

  it.each(['@atomic', ''])('replays nothing to a key that has lost the scope: mutation %s', async (directive) => {
    const { id, secret } = await service.createKey({ scopes: ['read', 'write'], plan: 'business' });
    const key = randomUUID();
    const operation = (quantity: number) => `mutation ${directive} { a: ${order} b: ${sell(quantity)} }`;
    expect((await send(operation(2), key, secret)).errors).toEqual([]);
    await service.sql(`update api_keys set scopes = '{read}' where id = $1`, [id]);
    const isForbidden = async () =>
      (await send('mutation { updatePet(input: { id: 1, name: "R" }) { pet { id } } }', undefined, secret)).errors
        .length > 0;
    await until(isForbidden);
    service.forgetStatements();
    // The scope comes before the key, also where the key was used for something else.
    for (const quantity of [2, 3]) {
      const { data, codes, replayed, headers } = await send(operation(quantity), key, secret);
      expect([data, replayed, headers['idempotent-replayed']]).toEqual([{ a: null, b: null }, [], undefined]);
      expect(codes).toEqual(['FORBIDDEN', directive === '' ? 'FORBIDDEN' : 'ABORTED']);
    }
    expect(service.statements).toEqual([]);
  });

  it('keeps nothing of an operation that failed', async () => {
    const key = randomUUID();
    const failed = await send(`mutation @atomic { a: ${order} b: ${fails} }`, key);
    expect(failed.data).toEqual({ a: null, b: null });
    const other = await send(sale(), key);
    expect([other.errors, other.replayed]).toEqual([[], []]);
  });
});

it('sales of parallel sellers keep the sum of stock and orders, and what is retried is sold once', async () => {
  const [before] = await service.sql('select (select count(*)::int from orders where pet_id = 2) as orders');
  const sellOne = async (key: string): Promise<void> => {
    const isSold = async (): Promise<boolean> => {
      const { body, headers } = await service.ask('GET', '/inventory/2');
      const { errors, replayed } = await send(
        `mutation @atomic {
          createOrder(input: { petId: 2, quantity: 1 }) { order { id } }
          updateInventory(input: { petId: 2, quantity: ${body.quantity - 1}, ifVersion: ${headers['etag']} }) { inventoryItem { quantity } }
        }`,
        key,
      );
      expect(replayed).toEqual([]);
      return errors.length === 0;
    };
    await until(isSold, { maxMillis: 60_000 });
  };
  await Promise.all(Array.from({ length: 6 }, () => sellOne(randomUUID())));
  const [after] = await service.sql(
    'select (select count(*)::int from orders where pet_id = 2) as orders, (select quantity from inventory where pet_id = 2) as stock',
  );
  expect(after).toEqual({ orders: Number(before?.['orders']) + 6, stock: 994 });
});
