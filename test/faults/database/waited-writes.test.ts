import { describe, expect, it } from '@jest/globals';

import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { adminKey } from '../../support/service.ts';
import { listenHere } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

/*
 * On a server: the embedded database has one session, so no write ever waits.
 */
const cluster = await startCluster();

const service = await listenHere({ DATABASE_URL: cluster.url });
const other = await connect(cluster.url);

/** A pet in a category, with its stock and an order, and another category and another pet. */
interface Rows {
  readonly category: string;
  readonly otherCategory: string;
  readonly pet: string;
  readonly otherPet: string;
  readonly order: string;
}

async function createRows(): Promise<Rows> {
  const [row] = await cluster.sql(
    `with c as (insert into categories (name, description) values ('1', '1'), ('1', '1') returning id),
       p as (insert into pets (name, category_id) select '1', min(id) from c union all select '1', min(id) from c returning id),
       i as (insert into inventory (pet_id, quantity) select id, 1 from p),
       o as (insert into orders (pet_id, quantity, complete) select min(id), 1, false from p returning id)
     select (select min(id) from c)::text as category, (select max(id) from c)::text as "otherCategory",
       (select min(id) from p)::text as pet, (select max(id) from p)::text as "otherPet", (select id from o)::text as "order"`,
  );
  return row as unknown as Rows;
}

const category = 'category { id name description version }';
const fields = {
  pet: `id name status version ${category} inventory { quantity status version }`,
  order: `id quantity version pet { id name status version }`,
  inventoryItem: 'petId quantity status version pet { id name status version }',
};
type Noun = keyof typeof fields;

interface Write {
  readonly noun: Noun;
  readonly field: string;
  readonly input: (rows: Rows) => string;
  /** What another transaction has locked. */
  readonly locked: (rows: Rows) => string;
  /** What it changes, too, which the response shows. */
  readonly changes: Readonly<Record<string, (rows: Rows) => string>>;
}

const ofCategory = (id: string) => `update categories set name = 'new' where id = ${id}`;
const nameOfPet = (id: string) => `update pets set name = 'new' where id = ${id}`;
const statusOfPet = (id: string) => `update pets set status = 'pending' where id = ${id}`;
const ofInventory = ({ pet }: Rows) => `update inventory set quantity = 7 where pet_id = ${pet}`;
const lock = (table: string, id: string, column = 'id') => `select from ${table} where ${column} = ${id} for update`;

const writes: Readonly<Record<string, Write>> = {
  'updatePet, whose row is locked': {
    noun: 'pet',
    field: 'updatePet',
    input: ({ pet }) => `id: ${pet}, status: SOLD`,
    locked: ({ pet }) => lock('pets', pet),
    changes: { category: ({ category: id }) => ofCategory(id), inventory: ofInventory },
  },
  'updatePet, whose new category is locked': {
    noun: 'pet',
    field: 'updatePet',
    input: ({ pet, otherCategory }) => `id: ${pet}, categoryId: ${otherCategory}`,
    locked: ({ otherCategory }) => lock('categories', otherCategory),
    changes: { category: ({ otherCategory }) => ofCategory(otherCategory), inventory: ofInventory },
  },
  'updateInventory, whose row is locked': {
    noun: 'inventoryItem',
    field: 'updateInventory',
    input: ({ pet }) => `petId: ${pet}, quantity: 5`,
    locked: ({ pet }) => lock('inventory', pet, 'pet_id'),
    changes: { name: ({ pet }) => nameOfPet(pet), status: ({ pet }) => statusOfPet(pet) },
  },
  'updateOrder, whose row is locked': {
    noun: 'order',
    field: 'updateOrder',
    input: ({ order }) => `id: ${order}, quantity: 5`,
    locked: ({ order }) => lock('orders', order),
    changes: { name: ({ pet }) => nameOfPet(pet), status: ({ pet }) => statusOfPet(pet) },
  },
  'updateOrder, whose new pet is locked': {
    noun: 'order',
    field: 'updateOrder',
    input: ({ order, otherPet }) => `id: ${order}, petId: ${otherPet}`,
    locked: ({ otherPet }) => lock('pets', otherPet),
    changes: { name: ({ otherPet }) => nameOfPet(otherPet), status: ({ otherPet }) => statusOfPet(otherPet) },
  },
  'createPet, whose category is locked': {
    noun: 'pet',
    field: 'createPet',
    input: ({ category: id }) => `name: "Rex", categoryId: ${id}`,
    locked: ({ category: id }) => lock('categories', id),
    changes: { category: ({ category: id }) => ofCategory(id) },
  },
  'createOrder, whose pet is locked': {
    noun: 'order',
    field: 'createOrder',
    input: ({ pet }) => `petId: ${pet}, quantity: 2`,
    locked: ({ pet }) => lock('pets', pet),
    changes: { name: ({ pet }) => nameOfPet(pet), status: ({ pet }) => statusOfPet(pet) },
  },
};

/** Begins while another transaction has locked a row, and has changed another; ends after that has committed. */
async function waiting<Result>(locked: string, change: string, work: () => Promise<Result>): Promise<Result> {
  await other.query(`begin; ${locked}; ${change}`);
  const result = work();
  const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'petstore-gateway'`;
  await until(async () => (await cluster.sql(waits)).length > 0);
  await other.query('commit');
  return result;
}

const ways = { alone: ['', {}], '@atomic': ['@atomic', {}], 'with an Idempotency-Key': ['', {}] } as const;
const cases = Object.entries(writes).flatMap(([name, write]) =>
  Object.entries(write.changes).flatMap(([changed, change]) =>
    Object.keys(ways).map((way) => [name, way, changed, { write, change }] as const),
  ),
);

let keys = 0;

describe('a write that has waited shows what a query shows right after it', () => {
  it.each(cases)('%s, %s; meanwhile changed: %s', async (_name, way, _changed, { write, change }) => {
    const rows = await createRows();
    const { noun, field } = write;
    const headers = way === 'with an Idempotency-Key' ? { 'idempotency-key': `waited ${(keys += 1)}` } : {};
    const query = `mutation ${way === '@atomic' ? way : ''} { ${field}(input: { ${write.input(rows)} }) { ${noun} { ${fields[noun]} } } }`;
    const { body } = await waiting(write.locked(rows), change(rows), () =>
      service.post('/graphql', { query }, headers),
    );
    expect(body.errors).toBeUndefined();
    const shown = body.data[field][noun];
    const argument = noun === 'inventoryItem' ? `petId: ${shown.petId}` : `id: ${shown.id}`;
    const after = await service.graphql(`{ ${noun}(${argument}) { ${fields[noun]} } }`);
    expect(shown).toEqual(after.body.data[noun]);
  });

  it('PATCH /inventory/{petId}: body and entity tag', async () => {
    const rows = await createRows();
    const path = `/inventory/${rows.pet}`;
    const { body, headers } = await waiting(lock('inventory', rows.pet, 'pet_id'), statusOfPet(rows.pet), () =>
      service.patch(path, { quantity: 3 }),
    );
    const after = await service.get(path, { authorization: `Bearer ${adminKey}` });
    expect([body, headers.get('etag')]).toEqual([after.body, after.headers.get('etag')]);
  });
});

it('what a write shows is one state, whoever changes several rows together at the same time', async () => {
  const { category: id, pet, order } = await createRows();
  const over = new AbortController();
  let number = 1;
  // The same number in all of them, at every commit.
  const changeAll = async (): Promise<void> => {
    const client = await connect(cluster.url);
    while (!over.signal.aborted) {
      const n = (number += 1);
      await client.query(
        `begin; update pets set name = '${n}' where id = ${pet}; update categories set name = '${n}' where id = ${id};
         update inventory set quantity = ${n} where pet_id = ${pet}; update orders set quantity = ${n} where id = ${order}; commit`,
      );
    }
    await client.end();
  };
  const seen = new Set<string>();
  const mixed: unknown[] = [];
  const write = async (query: string): Promise<void> => {
    const { body } = await service.graphql(query);
    const numbers = new Set(JSON.stringify(body.data).match(/\d+/g));
    for (const each of numbers) seen.add(each);
    if (numbers.size > 1) mixed.push(body);
  };
  const changing = changeAll();
  for (let round = 0; round < 60; round += 1) {
    const directive = round % 2 === 0 ? '' : '@atomic';
    const status = round % 3 === 0 ? 'SOLD' : 'PENDING';
    const shipDate = `2026-01-01T00:00:${10 + (round % 50)}Z`;
    await Promise.all([
      write(
        `mutation ${directive} { updatePet(input: { id: ${pet}, status: ${status} }) { pet { name category { name } inventory { quantity } } } }`,
      ),
      write(
        `mutation ${directive} { updateOrder(input: { id: ${order}, shipDate: "${shipDate}" }) { order { quantity pet { name } } } }`,
      ),
    ]);
  }
  over.abort();
  await changing;
  expect(mixed).toEqual([]);
  expect(seen.size).toBeGreaterThan(10);
});
