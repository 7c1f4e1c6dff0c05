import { expect, it } from '@jest/globals';

import { startTestApp } from '../../support/test-app.ts';

const service = await startTestApp();
await service.sql(`insert into categories (name) values ('Dogs'), ('Cats'), ('None')`);
await service.sql(
  `insert into pets (name, category_id, status) values ('Rex', 1, 'sold'), ('Bella', 1, 'available'), ('Mia', 2, 'pending')`,
);
await service.sql('insert into inventory (pet_id, quantity) values (1, 5), (2, 0), (3, 7)');
await service.sql(
  `insert into orders (pet_id, ship_date, complete) values (1, now(), true), (1, null, false), (null, null, false)`,
);

/** The first response, and the one after several more requests. */
async function firstAndLater(query: string, variables?: Record<string, unknown>): Promise<unknown[]> {
  const responses: unknown[] = [];
  for (let time = 0; time < 5; time += 1) {
    const { status, data, errors } = await service.graphql(query, variables);
    responses.push({ status, data, errors });
  }
  return [responses[0], responses.at(-1)];
}

const cases: [what: string, query: string, variables?: Record<string, unknown>][] = [
  [
    'nested pages, counts and cursors',
    `{ categories { totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
    edges { cursor node { name pets(first: 1) { totalCount pageInfo { hasNextPage } edges { cursor node { name inventory { quantity status } } } } } } } }`,
  ],
  [
    'null where nothing is found',
    '{ pet(id: 404) { id } order(id: 3) { pet { id } shipDate quantity complete } inventoryItem(petId: 404) { id } }',
  ],
  [
    'aliases, fragments and merged fields',
    `query { a: pet(id: 1) { ...P } a: pet(id: 1) { category { name } } b: pet(id: 2) { ... on Pet { id } ...P } __typename }
    fragment P on Pet { name category { id } __typename }`,
  ],
  [
    'fields that variables skip',
    `query ($with: Boolean!, $without: Boolean = true) { pets(first: 2) { edges { node { id name @include(if: $with) status @skip(if: $without) } } } }`,
    { with: false },
  ],
  [
    'pages by variables',
    'query ($n: Int, $f: PetFilter, $o: PetSort) { pets(first: $n, filter: $f, orderBy: $o) { edges { node { name } } } }',
    { n: 2, f: { statusIn: ['SOLD', 'PENDING'] }, o: { field: 'NAME' } },
  ],
  ['names with a meaning in JavaScript', '{ pet(id: 1) { __proto__: category { name } constructor: name then: id } }'],
  [
    'an update with an omitted variable',
    'mutation ($id: ID!, $date: DateTime, $quantity: Int) { updateOrder(input: { id: $id, shipDate: $date, quantity: $quantity }) { order { shipDate quantity } } }',
    { id: '1', quantity: 3 },
  ],
  [
    'fragments with conditions',
    'query ($a: Boolean!) { pet(id: 1) { ...A @include(if: $a) category { id } } } fragment A on Pet { category { ...B } } fragment B on Category { name }',
    { a: false },
  ],
  ['a null condition', 'query ($v: Boolean = false) { pet(id: 1) { id name @skip(if: $v) } }', { v: null }],
  ['a null for a default', 'query ($n: Int = 1) { pets(first: $n) { edges { node { id } } } }', { n: null }],
  [
    'an error that two fragments lead to',
    '{ pet(id: 1) { ...F ...F } } fragment F on Pet { orders(first: -1) { totalCount } }',
  ],
  ['a subscription', 'subscription { pet(id: 1) { id } }'],
  ['a default inside an argument', '{ pets(orderBy: { field: NAME }) { edges { node { name } } } }'],
  ['one value for a list', 'query ($f: PetFilter) { pets(filter: $f) { totalCount } }', { f: { statusIn: 'SOLD' } }],
  [
    'dates',
    'query ($f: OrderFilter) { orders(filter: $f) { totalCount } }',
    { f: { shipDateFrom: '2020-01-01T00:00:00Z', complete: null } },
  ],
  [
    'a date that does not exist',
    'query ($f: OrderFilter) { orders(filter: $f) { totalCount } }',
    { f: { shipDateFrom: '2026-02-30T00:00:00Z' } },
  ],
  [
    'omitted variables',
    'query ($n: Int, $f: PetFilter, $o: PetSort) { pets(first: $n, filter: $f, orderBy: $o) { edges { node { name } } } }',
  ],
  ['an id as a number', 'query ($id: ID!) { pet(id: $id) { id } }', { id: 1 }],
  [
    'the schema',
    '{ __schema { queryType { fields { name type { kind name ofType { name } } } } } __type(name: "Pet") { description } }',
  ],
  [
    'an error beside data',
    '{ pets(first: 101) { totalCount } categories(first: 1) { edges { node { name pets(first: 1, last: 1) { totalCount } } } } }',
  ],
  ['an error in every row', '{ pets { edges { node { name orders(after: "forged") { totalCount } } } } }'],
  [
    'a mutation that finds nothing',
    'mutation { gone: deletePet(input: { id: 404 }) { deletedPetId } updateInventory(input: { petId: 1, quantity: 5 }) { inventoryItem { quantity pet { name } } } }',
  ],
  [
    'a mutation with bad input',
    'mutation ($input: UpdatePetInput!) { updatePet(input: $input) { pet { id } } }',
    { input: { id: '1', name: '', categoryId: '404' } },
  ],
  ['a variable of another type', 'query ($n: Int) { pets(first: $n) { totalCount } }', { n: 'two' }],
  ['a variable that is missing', 'query ($id: ID!) { pet(id: $id) { id } }', {}],
  [
    'an unknown field in a variable',
    'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { order { id } } }',
    { input: { colour: 'red' } },
  ],
  ['a null that a default hides from validation', 'query ($id: ID = "1") { pet(id: $id) { id } }', { id: null }],
];

it.each(cases.map(([what, query, variables = {}]) => ({ what, query, variables })))(
  'responds to $what the same, the first time and later',
  async ({ query, variables }) => {
    const [first, later] = await firstAndLater(query, variables);
    expect(later).toEqual(first);
  },
);

it('reports every error at its path, through fragments and aliases', async () => {
  const query = `{ list: pets(first: 2) { edges { node { ...P } } } } fragment P on Pet { nested: orders(first: -1) { totalCount } }`;
  const [first, later] = (await firstAndLater(query)) as { errors: { path: unknown[]; locations: unknown[] }[] }[];
  expect(first!.errors.map(({ path }) => path)).toEqual(
    [0, 1].map((index) => ['list', 'edges', index, 'node', 'nested']),
  );
  expect(later).toEqual(first);
});
