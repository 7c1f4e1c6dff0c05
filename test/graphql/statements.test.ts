import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();
await service.sql(`insert into categories (id, name) select n, 'Category ' || n from generate_series(1, 100) n`);
await service.sql(
  `insert into pets (id, name, category_id) select n, 'Pet ' || n, 1 + n % 100 from generate_series(1, 1000) n`,
);
await service.sql(`select setval(pg_get_serial_sequence('pets', 'id'), 1000)`);
await service.sql('insert into inventory (pet_id, quantity) select id, 3 from pets');
await service.sql('insert into orders (pet_id, quantity) select id, 1 from pets');

async function statementsOf(query: string): Promise<number> {
  service.forgetStatements();
  const { errors } = await service.graphql(query);
  expect(errors).toEqual([]);
  return service.statements.length;
}

describe('the number of SQL statements depends on the depth of a query, never on the number of rows', () => {
  it.each([
    [
      'pets with their category',
      1,
      (n: number) => `{ pets(first: ${n}) { edges { node { name category { name } } } } }`,
    ],
    [
      'a page of pets per category, with their stock',
      2,
      (n: number) =>
        `{ categories(first: ${n}) { edges { node { pets(first: 10) { edges { node { inventory { quantity } } } } } } } }`,
    ],
    [
      'a page and a total per parent',
      3,
      (n: number) =>
        `{ categories(first: ${n}) { edges { node { pets(first: 3) { totalCount edges { node { id } } } } } } }`,
    ],
    [
      'orders of pets, and back',
      3,
      (n: number) =>
        `{ pets(first: ${n}) { edges { node { orders(first: 2) { edges { node { pet { inventory { quantity } } } } } } } } }`,
    ],
    ['stock with its pet', 1, (n: number) => `{ inventory(first: ${n}) { edges { node { pet { name } } } } }`],
    [
      'nodes without cursors, with their relations',
      1,
      (n: number) => `{ pets(first: ${n}) { nodes { name category { name } inventory { quantity } } } }`,
    ],
    [
      'nodes of a page per parent, and of a page per each of those',
      3,
      (n: number) =>
        `{ categories(first: ${n}) { nodes { pets(first: 3) { nodes { inventory { quantity } orders(first: 2) { nodes { pet { name } } } } } } } }`,
    ],
    [
      'edges and nodes of one page, each with a relation',
      1,
      (n: number) =>
        `{ pets(first: ${n}) { edges { cursor node { category { name } } } nodes { inventory { quantity } } } }`,
    ],
    ['orders with their pet', 1, (n: number) => `{ orders(first: ${n}) { edges { node { pet { name } } } } }`],
  ])('%s: %d', async (_what, expected, query) => {
    expect(await statementsOf(query(3))).toBe(expected);
    expect(await statementsOf(query(100))).toBe(expected);
  });

  it.each([
    ['{ pets(filter: { statusIn: AVAILABLE }) { totalCount } }', 1],
    ['{ categories { total: totalCount __typename } }', 1],
    [
      '{ orders { ...Total } inventory { ... on InventoryConnection { totalCount } } } fragment Total on OrderConnection { totalCount }',
      2,
    ],
    ['{ categories(first: 3) { edges { node { pets(orderBy: { field: NAME }) { totalCount } } } } }', 2],
    ['{ pets { __typename } }', 0],
    ['{ pets { totalCount ...N } } fragment N on PetConnection { nodes { id } }', 2],
    ['{ pets { pageInfo { hasNextPage } } }', 1],
    ['{ pets { totalCount pageInfo { hasNextPage } } }', 2],
    ['{ pets { totalCount ... on PetConnection { edges { cursor } } } }', 2],
    ['{ pets { totalCount edges @skip(if: true) { cursor } } }', 1],
  ])('%s, whose page and total are only read where they are selected: %d', async (query, expected) => {
    expect(await statementsOf(query)).toBe(expected);
  });

  it('a page that is not read is still checked', async () => {
    const { errors } = await service.graphql('{ pets(first: -1, after: "x") { totalCount } }');
    expect(errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', violations: [{ field: 'first' }, { field: 'after' }] } },
    ]);
  });

  it.each([
    'pet(id: 7) { name category { name } inventory { quantity } }',
    'category(id: 7) { name }',
    'order(id: 7) { quantity pet { name } }',
    'inventoryItem(petId: 7) { quantity pet { name } }',
  ])('a look-up alone is one statement: %s', async (field) => {
    expect(await statementsOf(`{ ${field} }`)).toBe(1);
    expect(await statementsOf(`{ ${field.replace('7', '"no id"')} }`)).toBe(0);
  });

  it('look-ups side by side are one statement per kind', async () => {
    const pets = Array.from({ length: 40 }, (_, n) => `p${n}: pet(id: ${n + 1}) { name category { name } }`);
    expect(await statementsOf(`{ ${pets.join(' ')} }`)).toBe(1);
  });

  it('a new pet is returned with its relations, and nothing is read again: its category is locked before', async () => {
    const create = (selection: string): string =>
      `mutation { createPet(input: { name: "Rex", categoryId: 1 }) { pet { ${selection} } } }`;
    const alone = await statementsOf(create('id'));
    expect(await statementsOf(create('name inventory { quantity }'))).toBe(alone);
    expect(await statementsOf(create('name category { name } inventory { quantity }'))).toBe(alone + 1);
  });

  it('relations are included wherever they are selected, fragments and aliases too, but not where they are skipped', async () => {
    const query = (skip: boolean): string =>
      `{ pets(first: 3) { page: edges { ...E } } } fragment E on PetEdge { node { kind: category @skip(if: ${skip}) { name } ... on Pet { inventory { status } } } }`;
    expect(await statementsOf(query(false))).toBe(1);
    expect(service.statements[0]).toMatch(/categories/);
    expect(await statementsOf(query(true))).toBe(1);
    expect(service.statements[0]).not.toMatch(/categories/);
  });
});
