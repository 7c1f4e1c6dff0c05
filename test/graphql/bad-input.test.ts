import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();
await service.sql(`insert into categories (name) values ('Dogs')`);
await service.sql(`insert into pets (name, category_id) values ('Rex', 1)`);
await service.sql('insert into inventory (pet_id, quantity) values (1, 5)');
await service.sql('insert into orders (pet_id, quantity) values (1, 1)');

const contents = `select (select jsonb_agg(c order by id) from categories c) as categories, (select jsonb_agg(p order by id) from pets p) as pets,
  (select jsonb_agg(i order by pet_id) from inventory i) as inventory, (select jsonb_agg(o order by id) from orders o) as orders`;

/** What a client must never see. */
const internalText =
  /pg_|sql|select|insert|constraint|syntax error at|\bat \/|node_modules|MikroORM|DomainError|stack/i;

async function expectBadInput(query: string, variables: Record<string, unknown>, field: string): Promise<void> {
  const before = await service.sql(contents);
  const { errors } = await service.graphql(query, variables);
  expect(errors).toHaveLength(1);
  expect(errors[0]!.extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
  expect(errors[0]!.extensions.violations!.map((violation) => violation.field)).toEqual([field]);
  expect(JSON.stringify(errors)).not.toMatch(internalText);
  expect(await service.sql(contents)).toEqual(before);
}

/**
 * The mutation, its input, and the field that is wrong with it. Those of both protocols are in `test/parity`, those
 * that graphql-js finds in `errors.test.ts`.
 */
const badInputs: [mutation: string, input: Record<string, unknown>, field: string][] = [
  ['createPet', { name: 'Rex', categoryId: '01' }, 'categoryId'],
  ['createPet', { name: 'Rex', categoryId: '9223372036854775808' }, 'categoryId'],
  ['updatePet', { id: '1' }, 'input'],
  ['updatePet', { id: '99', categoryId: '99' }, 'categoryId'],
  ['updateCategory', { id: '1' }, 'input'],
  ['updateOrder', { id: '1' }, 'input'],
];

/** The list, its arguments, and the one that is wrong. */
const badArguments: [list: string, args: string, field: string][] = [
  ['pets', 'last: 101', 'last'],
  ['pets', 'first: 1, last: 1', 'last'],
  ['pets', 'before: ""', 'before'],
  ['pets', 'filter: { nameContains: "a\\u0000" }', 'filter.nameContains'],
  ['orders', 'filter: { shipDateFrom: "2026-02-30T00:00:00Z" }', 'filter.shipDateFrom'],
  ['orders', 'filter: { shipDateTo: "tomorrow" }', 'filter.shipDateTo'],
];

describe('bad input is BAD_USER_INPUT naming the field, and nothing is written', () => {
  it.each(badInputs)('%s(%j) by a variable: %s', async (mutation, input, field) => {
    const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input`;
    await expectBadInput(`mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`, { input }, field);
  });

  it.each(badArguments)('%s(%s) in the document: %s', async (list, args, field) => {
    await expectBadInput(`{ ${list}(${args}) { totalCount } }`, {}, field);
  });

  it.each([
    ['{ categories { edges { node { pets(first: 101) { totalCount } } } } }', {}, 'first'],
    ['{ pets { edges { node { orders(after: "forged") { totalCount } } } } }', {}, 'after'],
    ['query ($first: Int) { pets(first: $first) { totalCount } }', { first: 101 }, 'first'],
    [
      'query ($ids: [ID!]) { pets(filter: { categoryIdIn: $ids }) { totalCount } }',
      { ids: Array(1001).fill('1') },
      'filter.categoryIdIn',
    ],
  ])('%s', async (query, variables, field) => {
    await expectBadInput(query, variables, field);
  });

  it('refuses a cursor of another order', async () => {
    const { data } = await service.graphql('{ pets(orderBy: { field: NAME }) { pageInfo { endCursor } } }');
    await expectBadInput(`{ pets(after: "${data.pets.pageInfo.endCursor}") { totalCount } }`, {}, 'after');
  });
});
