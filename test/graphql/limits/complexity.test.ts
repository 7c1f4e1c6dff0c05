import { expect, it } from '@jest/globals';

import { sampleLimits, startSampleServer } from '../sample-server.ts';

const sample = await startSampleServer();

const { run } = sample;

async function expectAllowed(query: string, variables?: Record<string, unknown>): Promise<void> {
  expect(await run(query, variables)).toMatchObject({ status: 200, errors: [] });
}

const petsOf = (args: string, inside: string): string => `pets${args} { edges { node { ${inside} } } }`;

/** Refused with both numbers in words and in the extensions, and with the list to make shorter. */
async function expectTooComplex(
  query: string,
  complexity: number,
  list: string,
  variables?: Record<string, unknown>,
): Promise<void> {
  const message = `The operation's complexity is ${complexity}, but at most 5000 is allowed. Make a list shorter: ${list}.`;
  const extensions = { code: 'COMPLEXITY_LIMIT_EXCEEDED', status: 400, complexity, maxComplexity: 5000 };
  expect(await run(query, variables)).toEqual({ status: 400, errors: [{ message, extensions }] });
}

it('multiplies the nodes of connections inside each other; edges and page information are free', async () => {
  // 100 pets, their 100 categories, and 48 pets of each: 100 + 100 + 4,800.
  const nested = petsOf(
    '(first: 100)',
    'category { pets(first: 48) { pageInfo { hasNextPage } edges { cursor node { id } } } }',
  );
  await expectAllowed(`{ ${nested} }`);
  const list = 'pets counts 5000 with 100 entries, with 48 of category.pets in each';
  await expectTooComplex(`{ ${nested} more: pet(id: 1) { id } }`, 5001, list);
  expect(sample.refusals).toEqual(['complexity']);
});

it.each([
  ['edges without their nodes', 'pets(first: 100) { edges { cursor } }', 100],
  ['nodes without cursors', 'pets(first: 100) { nodes { id } }', 100],
  ['what nodes without cursors select', 'pets(first: 50) { nodes { category { id } friend { id } } }', 150],
  ['page information alone', 'pets(first: 100) { pageInfo { hasNextPage } }', 100],
  ['a count, 20 and 1', 'pets(first: 100) { totalCount }', 21],
  ['a page and its count', 'pets(first: 100) { totalCount pageInfo { hasNextPage } }', 120],
  ['a connection of which nothing is asked, 1', 'pets(first: 100) { __typename }', 1],
  ['an empty page, 1', 'pets(first: 0) { edges { node { id } } }', 1],
  ['the same in a fragment', '...F', 120],
  [
    'edges twice, what their nodes select',
    'pets(first: 50) { edges { node { category { id } } } also: edges { node { friend { id } } } }',
    150,
  ],
  ['nodes, by the number of ids', 'nodes(nodeIds: [1, 2, 3]) { id ... on Pet { category { id } } }', 6],
  ['nodes, by the length of a variable', 'nodes(nodeIds: $ids) { id }', 4],
  ['nodes without ids, nothing', 'nodes(nodeIds: []) { id }', 0],
  ['an object, 1', 'pet(id: 1) { id }', 1],
  ['a field that is no object, nothing', 'echo', 0],
])('counts %s', async (_what, selection, complexity) => {
  const fragment =
    'fragment F on Query { pets(first: 100) { totalCount ...G } } fragment G on PetConnection { edges { cursor } }';
  const query = `query ($ids: [ID!]!) { used: nodes(nodeIds: $ids) @include(if: false) { id } ${selection} }`;
  const { headers } = await sample.post({
    query: selection.includes('...F') ? `${query} ${fragment}` : query,
    variables: { ids: ['1', '2', '3', '4'] },
  });
  expect(headers['x-graphql-complexity']).toBe(String(complexity));
});

it.each([
  ['20 when neither first nor last is given', '', 20],
  ['20 when first is null', '(first: null)', 20],
  ['last', '(last: 30)', 30],
  ['first, by a variable', '(first: $first)', 40],
  ['first, by the default of a variable', '(first: $other)', 50],
  ['last, when first is null', '(first: null, last: 21)', 21],
])('multiplies by %s', async (_name, args, entries) => {
  // 250 nodes for each pet: itself, its category, and 248 more.
  const more = petsOf('(first: 100)', 'id');
  const query = `query ($first: Int, $other: Int = 50) {
    echo(text: "uses the variables") ${petsOf(
      args,
      `category { ${more} a: ${more} b: ${petsOf('(first: 48)', 'id')} }`,
    )}
    unused: pets(first: $first) { totalCount } unusedToo: pets(first: $other) { totalCount }
    ${petsOf('(first: 1)', 'id').replace('pets', 'one: pets')}
  }`;
  // Two counts and one page of one.
  await expectTooComplex(
    query,
    entries * 250 + 21 + 21 + 1,
    `pets counts ${entries * 250} with ${entries} entries, with 100 of category.pets in each`,
    { first: 40 },
  );
});

it('counts the payload of a mutation and what is in it', async () => {
  const create = (first: number): string => `mutation {
    createPet(input: { name: "Rex" }) { pet { category { ${petsOf(`(first: 100)`, `friend { category { ${petsOf(`(first: ${first})`, 'id')} } }`)} } } }
  }`;
  await expectAllowed(create(46));
  await expectTooComplex(
    create(47),
    5003,
    'createPet.pet.category.pets counts 5000 with 100 entries, with 47 of friend.category.pets in each',
  );
});

it.each([
  ['a page of a search, 500 more', 'pets(filter: { nameContains: "x" }) { nodes { id } }', 520],
  ['its count, 500 more', 'pets(filter: { nameContains: "x" }) { totalCount }', 521],
  ['both, each of them', 'pets(filter: { nameContains: "x" }) { ...P totalCount }', 1040],
  ['neither, nothing more', 'pets(filter: { nameContains: "x" }) { __typename }', 1],
  ['an empty page all the same', 'pets(first: 0, filter: { nameContains: "x" }) { ...P }', 501],
  [
    'a search in each of a hundred parents, once',
    'pets(first: 100) { nodes { category { pets(first: 1, filter: { statusIn: [SOLD], nameContains: """x""" }) { ...P totalCount } } } }',
    100 + 100 + 100 + 2_000 + 1_000,
  ],
  ['a search by a variable', 'pets(filter: { nameContains: $text }) { ...P }', 520],
  ['a filter by a variable', 'pets(filter: $filter) { ...P }', 520],
  ['a default of a variable', 'pets(filter: $default) { ...P }', 520],
  ['no search by a null', 'pets(filter: { nameContains: null }) { ...P }', 20],
  ['no search by a variable that is null', 'pets(filter: { nameContains: $null }) { ...P }', 20],
  ['no search by a variable that is omitted', 'pets(filter: { nameContains: $omitted }) { ...P }', 20],
  ['no search by an empty text, which filters nothing', 'pets(filter: { nameContains: "" }) { ...P }', 20],
  ['no search by an empty text in a variable', 'pets(filter: { nameContains: $empty }) { ...P }', 20],
  ['no search by another filter', 'pets(filter: $other) { ...P }', 20],
  ['no search by a filter that is null', 'pets(filter: $noFilter) { ...P }', 20],
])('counts %s', async (_what, selection, complexity) => {
  const query = `query (
    $text: String, $null: String, $omitted: String, $empty: String
    $filter: PetFilter, $default: PetFilter = { nameContains: "x" }, $other: PetFilter, $noFilter: PetFilter
  ) {
    ${['text', 'null', 'omitted', 'empty'].map((name) => `${name}: echo(text: $${name})`).join(' ')}
    ${['filter', 'default', 'other', 'noFilter'].map((name) => `${name}: pets(filter: $${name}) @include(if: false) { ...P }`).join(' ')}
    ${selection}
  }
  fragment P on PetConnection { pageInfo { hasNextPage } }`;
  const variables = {
    text: 'x',
    null: null,
    empty: '',
    filter: { nameContains: 'x' },
    other: { nameContains: null, statusIn: ['SOLD'] },
    noFilter: null,
  };
  const { headers } = await sample.post({ query, variables });
  expect(headers['x-graphql-complexity']).toBe(String(complexity));
});

it('lets nine searches through, and says of more what they count', async () => {
  const searches = (count: number): string =>
    Array.from({ length: count }, (_, index) => `s${index}: pets(filter: { nameContains: "x" }) { totalCount }`).join(
      ' ',
    );
  await expectAllowed(`{ ${searches(9)} }`);
  const { errors } = await run(`{ ${searches(10)} ${petsOf('(first: 30)', 'id')} }`);
  expect(errors[0]!.message).toBe(
    "The operation's complexity is 5240, but at most 5000 is allowed. Search less: nameContains counts 5000 of it, 500 for each page and 500 for each totalCount.",
  );
});

it('names the list that counts most, by its response keys, and none of a single entry', async () => {
  const pages = petsOf(
    '(first: 100)',
    `category { ${petsOf('(first: 30)', 'id')} more: ${petsOf('(first: 40)', 'id')} }`,
  );
  await expectTooComplex(
    `{ few: ${petsOf('(first: 10)', 'friend { id }')} one: ${petsOf('(first: 1)', `category { all: ${pages} }`)} }`,
    7222,
    'one.category.all counts 7200 with 100 entries, with 40 of category.more in each',
  );
});

it('gives other advice where there is no list', async () => {
  const strict = await startSampleServer({ limits: { ...sampleLimits, maxComplexity: 1 } });
  const { errors } = (await strict.post({ query: '{ pet(id: 1) { friend { id } } }' })).json();
  expect(errors[0].message).toBe("The operation's complexity is 2, but at most 1 is allowed. Select fewer objects.");
});

it('is in a header of every response to a valid operation, cold or warm, refused or not', async () => {
  const query = `query ($first: Int) { ${petsOf('(first: $first)', 'id friend { category { id } }')} }`;
  const told = async (first: unknown): Promise<unknown[]> => {
    const { statusCode, headers } = await sample.post({ query, variables: { first } });
    return [statusCode, headers['x-graphql-complexity']];
  };
  for (const [first, complexity] of [
    [7, '21'],
    [7, '21'],
    [null, '60'],
  ])
    expect(await told(first)).toEqual([200, complexity]);
  expect(await told('many')).toEqual([400, '3']);
  const got = await sample.get({ query: '{ pet(id: 1) { id } }' });
  expect(got.headers['x-graphql-complexity']).toBe('1');
  const byGet = await sample.get({ query: 'mutation { fail(how: CONFLICT) }' });
  const streamed = await sample.post(
    { query: '{ pet(id: 1) { id } }' },
    { accept: 'multipart/mixed;subscriptionSpec=1.0' },
  );
  expect([byGet, streamed].map(({ statusCode, headers }) => [statusCode, headers['x-graphql-complexity']])).toEqual([
    [405, '0'],
    [406, '1'],
  ]);
  for (const invalid of ['{ unknown }', '{']) {
    expect((await sample.post({ query: invalid })).headers).not.toHaveProperty('x-graphql-complexity');
  }
});

it('leaves a size that no list allows to the service, whose message is clearer', async () => {
  await expectAllowed('{ pets(first: 1000000) { edges { node { id } } } }');
  await expectAllowed('{ pets(first: -5) { edges { node { category { id } } } } }');
  await expectAllowed('{ pets(first: 0) { edges { node { category { id } } } } }');
});

it('refuses a bad variable before a limit', async () => {
  const { errors } = await run(
    `query ($first: Int) { ${petsOf('(first: $first)', `category { ${petsOf('(first: 100)', 'friend { id }')} }`)} }`,
    { first: 'many' },
  );
  expect(errors[0]!.extensions).toMatchObject({ code: 'BAD_USER_INPUT', violations: [{ field: 'first' }] });
});
