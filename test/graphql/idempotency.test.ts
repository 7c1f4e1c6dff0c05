import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHash, randomUUID } from 'node:crypto';

import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();
await service.sql(`insert into categories (name) values ('Dogs')`);

const send = (query: string, key: string, variables: object = {}, secret = service.key) =>
  service.graphql(query, variables, secret, { 'idempotency-key': key });

const create = (input: string, selection = 'id') => `createPet(input: { ${input} }) { pet { ${selection} } }`;
const rex = 'name: "Rex", categoryId: 1';

async function count(table: string): Promise<number> {
  const [row] = await service.sql(`select count(*)::int as n from ${table}`);
  return Number(row?.['n']);
}

it('carries a root field out once, and replays its payload', async () => {
  const key = randomUUID();
  const [first, second] = [
    await send(`mutation { ${create(rex)} }`, key),
    await send(`mutation { ${create(rex)} }`, key),
  ];
  expect([first.codes, second.codes]).toEqual([[], []]);
  expect(second.data).toEqual(first.data);
  expect([first.replayed, first.headers['idempotent-replayed']]).toEqual([[], undefined]);
  expect([second.replayed, second.headers['idempotent-replayed']]).toEqual([['createPet'], 'true']);
  expect(Number(second.data.createPet.pet.id)).toBeGreaterThan(0);
});

it('knows the same input in every spelling', async () => {
  const key = randomUUID();
  const first = await send(`mutation { made: ${create(rex, 'id name')} }`, key);
  const input = { status: null, categoryId: 1, name: 'Rex' };
  const asVariable = 'mutation Other($input: CreatePetInput!) { made: createPet(input: $input) { pet { id status } } }';
  for (const same of [
    await send(`mutation { ...F } fragment F on Mutation { made: ${create(`status: AVAILABLE, ${rex}`)} }`, key),
    await send(asVariable, key, { input }),
    await send(asVariable, `"${key}"`, { input: { categoryId: '1', name: 'Rex', status: 'AVAILABLE' } }),
    await send(
      'mutation ($s: PetStatus) { made: createPet(input: { name: "Rex", categoryId: "1", status: $s }) { pet { id } } }',
      key,
    ),
  ]) {
    expect([same.codes, same.replayed]).toEqual([[], ['made']]);
    expect(same.data.made.pet.id).toBe(first.data.made.pet.id);
  }
});

it('refuses another field or input under the same record, and leaves that field null', async () => {
  const key = randomUUID();
  await send(`mutation { made: ${create(rex)} }`, key);
  for (const other of [
    create('name: "Max", categoryId: 1'),
    create(`${rex}, status: SOLD`),
    'createCategory(input: { name: "Rex" }) { category { id } }',
  ]) {
    const response = await send(`mutation { made: ${other} }`, key);
    expect([response.status, response.data, response.codes]).toEqual([200, { made: null }, ['IDEMPOTENCY_KEY_REUSED']]);
  }
});

it('where null removes a value, it is another input than leaving it out', async () => {
  const [{ id }] = (await service.sql('insert into orders (quantity) values (3) returning id')) as [{ id: string }];
  const key = randomUUID();
  await send(`mutation { updateOrder(input: { id: "${id}", complete: false }) { order { id } } }`, key);
  const { codes } = await send(
    `mutation { updateOrder(input: { id: "${id}", complete: false, quantity: null }) { order { id } } }`,
    key,
  );
  expect(codes).toEqual(['IDEMPOTENCY_KEY_REUSED']);
});

it('is the same input where an instant is written otherwise', async () => {
  const key = randomUUID();
  const [written, ...others] = [
    '2026-12-24T09:00:00Z',
    '2026-12-24T10:00:00.0+01:00',
    '2026-12-24T09:00:00.000999z',
  ].map((instant) => `mutation { createOrder(input: { shipDate: "${instant}" }) { order { id shipDate } } }`) as [
    string,
    string,
    string,
  ];
  const { data } = await send(written, key);
  for (const other of others) expect(await send(other, key)).toMatchObject({ data, replayed: ['createOrder'] });
  const { codes } = await send(written.replace('09:00:00Z', '09:00:00.001Z'), key);
  expect(codes).toEqual(['IDEMPOTENCY_KEY_REUSED']);
});

it('shows the row as it was right after the change, and what is below it as it is now', async () => {
  const key = randomUUID();
  const query = `mutation {
    a: createOrder(input: { petId: 1, quantity: 2, shipDate: "2026-12-24T10:00:00.5+01:00" }) { order { id version shipDate complete pet { name } } }
    b: ${create(rex, 'id name version nodeId category { name } inventory { quantity } orders { totalCount nodes: edges { cursor } }')}
  }`;
  await service.sql(`insert into categories (id, name) values (50, 'Mice')`);
  await service.sql(`insert into pets (id, name, category_id) values (1000, 'Old', 50)`);
  await service.sql('insert into inventory (pet_id) values (1000)');
  const before = await send(query.replace('petId: 1,', 'petId: 1000,'), key);
  expect(before.codes).toEqual([]);
  const { pet } = before.data.b;
  await service.graphql(`mutation { updatePet(input: { id: 1000, name: "New" }) { pet { id } } }`);
  await service.graphql(
    `mutation { updateInventory(input: { petId: ${pet.id}, quantity: 7 }) { inventoryItem { petId } } }`,
  );
  const changed = await send(query.replace('petId: 1,', 'petId: 1000,'), key);
  expect(changed.replayed).toEqual(['a', 'b']);
  expect(changed.data.a.order).toEqual({ ...before.data.a.order, pet: { name: 'New' } });
  expect(changed.data.b.pet).toEqual({ ...pet, inventory: { quantity: 7 } });
  await service.graphql(`mutation { deletePet(input: { id: ${pet.id} }) { deletedPetId } }`);
  const gone = await send(query.replace('petId: 1,', 'petId: 1000,'), key);
  expect(gone.codes).toEqual([]);
  expect(gone.data.b.pet).toEqual({ ...pet, inventory: null, orders: { totalCount: 0, nodes: [] } });
});

it('replays deletions', async () => {
  const { data } = await service.graphql(`mutation { ${create(rex)} createOrder(input: {}) { order { id } } }`);
  const query = `mutation { deletePet(input: { id: ${data.createPet.pet.id} }) { deletedPetId }
    cancelOrder(input: { id: ${data.createOrder.order.id} }) { cancelledOrderId } }`;
  const key = randomUUID();
  const first = await send(query, key);
  const second = await send(query, key);
  expect([first.codes, second.codes, second.data]).toEqual([[], [], first.data]);
  expect(second.replayed).toEqual(['deletePet', 'cancelOrder']);
});

it('keeps nothing of a field that failed: a retry carries it out, and replays the others', async () => {
  const key = randomUUID();
  const query =
    'mutation ($id: ID!) { a: createOrder(input: {}) { order { id } } b: createPet(input: { name: "Rex", categoryId: $id }) { pet { id } } }';
  const first = await send(query, key, { id: 60 });
  expect([first.codes, first.data.b]).toEqual([['BAD_USER_INPUT'], null]);
  await service.sql(`insert into categories (id, name) values (60, 'Late')`);
  const second = await send(query, key, { id: 60 });
  expect([second.codes, second.replayed, second.headers['idempotent-replayed']]).toEqual([[], ['a'], undefined]);
  const third = await send(query, key, { id: 60 });
  expect([third.data, third.headers['idempotent-replayed']]).toEqual([second.data, 'true']);
});

it('is one key for a persisted document, by hash and by text', async () => {
  const query = `mutation { ${create(rex)} }`;
  const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') } };
  const headers = { 'idempotency-key': randomUUID() };
  const before = await count('pets');
  const post = async (body: object) => (await service.ask('POST', '/graphql', body, headers)).body;
  expect((await post({ extensions })).errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
  const first = await post({ query, extensions });
  const second = await post({ extensions });
  expect(second).toEqual({ data: first.data, extensions: { replayed: ['createPet'] } });
  expect(await count('pets')).toBe(before + 1);
});

it.each(['{ pets { totalCount } }', 'no GraphQL'])('is checked on every POST: %s', async (query) => {
  const { status, codes } = await send(query, '"abc');
  expect([status, codes]).toEqual([400, ['BAD_USER_INPUT']]);
});

it('changes nothing for a query', async () => {
  const key = randomUUID();
  for (let n = 0; n < 2; n += 1) {
    const { data, replayed } = await send('{ pets { totalCount } }', key);
    expect([data.pets.totalCount, replayed]).toEqual([await count('pets'), []]);
  }
  expect(await service.sql('select from idempotency_records where key = $1', [key])).toEqual([]);
});

it('refuses mutations of API keys, each for itself', async () => {
  const query = `mutation { a: createApiKey(input: { name: "k", plan: FREE, scopes: [READ] }) { secret } b: createOrder(input: {}) { order { id } } }`;
  const { data, codes } = await send(query, randomUUID());
  expect([data.a, codes]).toEqual([null, ['BAD_USER_INPUT']]);
  expect(data.b.order.id).toBeDefined();
});

it('adds two statements and a transaction, and nothing without the header', async () => {
  const query = `mutation { ${create(rex)} }`;
  service.forgetStatements();
  await send(query, randomUUID());
  const keyed = service.statements.filter((sql) => !['begin', 'commit'].includes(sql));
  service.forgetStatements();
  await service.graphql(query);
  expect(service.statements).toHaveLength(1);
  expect(keyed).toHaveLength(3);
});

it('covers at most 50 root fields', async () => {
  const mutation = (aliased: number) =>
    `mutation { __typename createOrder(input: {}) { order { id } } createCategory(input: { name: "Many" }) { category { id } }
       ${Array.from({ length: aliased }, (_, n) => `f${n}: createOrder(input: {}) { order { id } }`).join(' ')} }`;
  const refused = await send(mutation(49), randomUUID());
  expect([refused.status, refused.codes]).toEqual([400, ['BAD_USER_INPUT']]);
  const key = randomUUID();
  expect((await send(mutation(48), key)).codes).toEqual([]);
  expect((await send(mutation(48), key)).replayed).toHaveLength(50);
});

it('a replay costs what the operation costs', async () => {
  const { secret } = await service.createKey();
  const key = randomUUID();
  const query = 'mutation { a: createOrder(input: {}) { order { id } } b: createOrder(input: {}) { order { id } } }';
  const [first, second] = [await send(query, key, {}, secret), await send(query, key, {}, secret)];
  expect([second.headers['idempotent-replayed'], second.headers['x-ratelimit-cost']]).toEqual([
    'true',
    first.headers['x-ratelimit-cost'],
  ]);
  expect(Number(second.headers['x-ratelimit-remaining'])).toBe(Number(first.headers['x-ratelimit-remaining']) - 2);
});

it('any interleaving of retries of some operations equals one execution of each', async () => {
  const operations = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(operations, fc.boolean(), async (order, isParallel) => {
      const keys = Array.from({ length: 4 }, () => randomUUID());
      const before = await count('orders');
      const run = (n: number) =>
        send(
          `mutation { a: createOrder(input: { quantity: ${n + 1} }) { order { id } } b: createOrder(input: {}) { order { id } } }`,
          keys[n]!,
        );
      const sent = isParallel ? await Promise.all(order.map(run)) : [];
      expect(sent.flatMap(({ codes }) => codes).filter((code) => code !== 'CONFLICT')).toEqual([]);
      // The client retries until nothing is in conflict.
      for (const n of order) expect((await run(n)).codes).toEqual([]);
      const results = new Set<string>();
      for (const n of order) results.add(JSON.stringify((await run(n)).data));
      const distinct = new Set(order).size;
      expect([results.size, await count('orders')]).toEqual([distinct, before + 2 * distinct]);
    }),
    { numRuns: 15 },
  );
});
