import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();
await service.sql(`insert into categories (id, name, description) values (1, 'Dogs', 'Loyal "é" 🐕')`);
await service.sql(`insert into pets (id, name, category_id) values (1, 'Rex', 1), (9007199254740993, 'Max', 1)`);
await service.sql('insert into inventory (pet_id, quantity) select id, 5 from pets');
await service.sql(`insert into orders (id, pet_id, quantity, ship_date) values (1, 1, 2, '2026-12-24T10:00:00.5Z')`);
for (const table of ['categories', 'pets', 'orders'])
  await service.sql(`select setval(pg_get_serial_sequence('${table}', 'id'), 100)`);

/** Each kind, with a new row where the change is its removal. */
const kinds = [
  { query: 'pet(id: 1)', url: '/pets/1', change: 'updatePet(input: { id: 1, name: "Moritz"', result: 'pet' },
  {
    query: 'category(id: 1)',
    url: '/categories/1',
    change: 'updateCategory(input: { id: 1, name: "Cats"',
    result: 'category',
  },
  { query: 'order(id: 1)', url: '/store/orders/1', change: 'updateOrder(input: { id: 1, quantity: 7', result: 'order' },
  {
    query: 'inventoryItem(petId: 1)',
    url: '/inventory/1',
    change: 'updateInventory(input: { petId: 1, quantity: 4',
    result: 'inventoryItem',
  },
] as const;

const failed = [{ extensions: { code: 'PRECONDITION_FAILED', status: 412 } }];

async function versionOf(query: string): Promise<string> {
  const { data } = await service.graphql(`{ row: ${query} { version } }`);
  return data.row.version;
}

const tagOf = async (url: string) => (await service.ask('GET', url)).headers['etag'];

it.each([...kinds, { query: 'pet(id: "9007199254740993")', url: '/pets/9007199254740993' }])(
  'the version of $query is the entity tag of $url without its quotes, and takes no statement',
  async ({ query, url }) => {
    service.forgetStatements();
    const version = await versionOf(query);
    expect(service.statements).toHaveLength(1);
    expect(`"${version}"`).toBe(await tagOf(url));
  },
);

describe.each(kinds)('ifVersion of $result', ({ query, url, change, result }) => {
  it('writes nothing when somebody else was faster, and else returns the next version', async () => {
    const seen = await versionOf(query);
    const send = (ifVersion: string) =>
      service.graphql(`mutation { done: ${change}, ifVersion: ${ifVersion} }) { ${result} { version } } }`);
    for (const wrong of ['"other"', '"*"', '""', JSON.stringify(`"${seen}"`)]) {
      expect(await send(wrong)).toMatchObject({ status: 200, data: { done: null }, errors: failed });
      expect(await versionOf(query)).toBe(seen);
    }
    const { data, errors } = await send(JSON.stringify(seen));
    expect(errors).toEqual([]);
    expect(data.done[result].version).not.toBe(seen);
    expect(`"${data.done[result].version}"`).toBe(await tagOf(url));
    expect((await send(JSON.stringify(seen))).errors).toMatchObject(failed);
    expect((await send('null')).errors).toEqual([]);
  });

  it('is no change by itself, nor is an id, and is checked after the input and the row', async () => {
    const alone = change.replace(/, \w+: [^,]*$/, '');
    const codes = async (field: string, ifVersion = '"x"') =>
      (await service.graphql(`mutation { ${field}, ifVersion: ${ifVersion} }) { ${result} { version } } }`)).codes;
    expect(await codes(alone)).toEqual(['BAD_USER_INPUT']);
    expect(await codes(alone, 'null')).toEqual(['BAD_USER_INPUT']);
    expect(await codes(change.replace(/\w+: 1,/, (id) => id.replace('1', '404')))).toEqual(['NOT_FOUND']);
    expect(await codes(change)).toEqual(['PRECONDITION_FAILED']);
  });
});

it('a deletion checks the version before anything that forbids it', async () => {
  await service.sql('insert into orders (id, complete) values (2, true)');
  for (const field of ['deletePet(input: { id: 1', 'deleteCategory(input: { id: 1', 'cancelOrder(input: { id: 2']) {
    const codes = async (ifVersion: string) =>
      (await service.graphql(`mutation { ${field}, ifVersion: ${ifVersion} }) { __typename } }`)).codes;
    expect([field, await codes('"x"'), await codes('null')]).toEqual([field, ['PRECONDITION_FAILED'], ['CONFLICT']]);
  }
  const { data } = await service.graphql('mutation { createOrder(input: {}) { order { id version } } }');
  const { id, version } = data.createOrder.order;
  const { errors } = await service.graphql(
    'mutation ($input: CancelOrderInput!) { cancelOrder(input: $input) { cancelledOrderId } }',
    {
      input: { id, ifVersion: version },
    },
  );
  expect(errors).toEqual([]);
});

it('an inventory item has another version as soon as the status of its pet changes, in both protocols', async () => {
  const seen = await versionOf('inventoryItem(petId: 1)');
  await service.sql(`update pets set status = 'pending' where id = 1`);
  const { errors } = await service.graphql(
    `mutation { updateInventory(input: { petId: 1, quantity: 9, ifVersion: "${seen}" }) { inventoryItem { version } } }`,
  );
  expect(errors).toMatchObject(failed);
  const { status } = await service.ask('PATCH', '/inventory/1', { quantity: 9 }, { 'if-match': `"${seen}"` });
  expect(status).toBe(412);
});
