/** What one key may put into a document or a body, and what it gets for it. */
interface AttackBody {
  readonly name: string;
  readonly status: number;
  readonly code?: string;
  readonly body: string;
}

const query = (text: string): string => JSON.stringify({ query: text });
const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(' ');
const nested = (pets: string): string =>
  `{ categories(first: 49) { edges { node { pets(first: 100) { ${pets} } } } } }`;
const chain = (length: number, link: (next: string) => string): string =>
  Array.from({ length }, (_, n) => `fragment F${n} on Pet { id ${link(`...F${n + 1}`)} }`).join(' ') +
  ` fragment F${length} on Pet { id }`;
const tooLarge = { status: 400, code: 'RESULT_TOO_LARGE' };
const tooManyValues = { status: 400, code: 'BAD_REQUEST' };
const refused = { status: 400, code: 'GRAPHQL_VALIDATION_FAILED' };
const tooComplex = { status: 400, code: 'COMPLEXITY_LIMIT_EXCEEDED' };

/** The store has 49 categories or more, with 100 pets each. */
export const attackBodies: readonly AttackBody[] = [
  {
    name: 'a key of 60,000 letters for 4,900 pets',
    ...tooLarge,
    body: query(nested(`edges { node { ${'A'.repeat(60_000)}: id } }`)),
  },
  {
    name: 'introspection under a key of 60,000 letters',
    ...tooLarge,
    body: query(`{ __schema { types { fields { ${'A'.repeat(60_000)}: name } } } }`),
  },
  {
    name: '49 times the same long text',
    ...tooLarge,
    body: query(`{ categories(first: 50) { edges { node { ${aliases(49, 'description')} } } } }`),
  },
  { name: 'cursors, 240,100 of them', ...tooLarge, body: query(nested(aliases(49, 'edges { cursor }'))) },
  { name: 'cursors, just within the bytes', status: 200, body: query(nested(aliases(12, 'edges { cursor }'))) },
  {
    name: 'a failing connection 48 times for 4,900 pets',
    ...tooComplex,
    body: query(nested(`edges { node { ${aliases(48, 'orders(first: -1) { totalCount }')} } }`)),
  },
  {
    name: 'the same, of which nothing is selected',
    ...tooComplex,
    body: query(nested(`edges { node { ${aliases(48, 'orders(first: -1) { __typename }')} } }`)),
  },
  {
    name: '4,800 failing connections',
    status: 200,
    body: query(`{ pets(first: 100) { edges { node { ${aliases(48, 'orders(first: -1) { __typename }')} } } } }`),
  },
  {
    name: '1 MiB of long integers in a variable that is not declared',
    ...tooManyValues,
    body: `{"query":"{ rateLimit { cost } }","variables":{"n":[${'9007199254740993,'.repeat(61_000)}1]}}`,
  },
  {
    name: '1 MiB of short huge numbers in one that is',
    ...tooManyValues,
    body: `{"query":"query ($n: [ID!]) { orders(filter: { petIdIn: $n }) { totalCount } }","variables":{"n":[${'9e99,'.repeat(200_000)}1]}}`,
  },
  {
    name: '9,990 long integers, of 100 digits each',
    status: 200,
    code: 'BAD_USER_INPUT',
    body: `{"query":"query ($n: [ID!]) { orders(filter: { petIdIn: $n }) { totalCount } }","variables":{"n":[${`${'9'.repeat(100)},`.repeat(9_990)}1]}}`,
  },
  {
    name: '1 MiB of white space around a field',
    ...refused,
    body: query(`{${' '.repeat(1_000_000)}__typename }`),
  },
  {
    name: 'fragments that spread the next one twice, 23 of them',
    ...refused,
    body: query(`{ pet(id: 1) { ...F0 } } ${chain(23, (next) => `${next} ${next}`)}`),
  },
  {
    name: 'the same, 170 of them',
    ...refused,
    body: query(`{ pet(id: 1) { ...F0 } } ${chain(170, (next) => `${next} ${next}`)}`),
  },
  {
    name: 'the same, within an object',
    ...refused,
    body: query(
      `{ pet(id: 1) { ...F0 } } ${chain(40, (next) => `category { pets { edges { node { ${next} } } } } orders { edges { node { pet { ${next} } } } }`)}`,
    ),
  },
  {
    name: 'a fragment within itself, with fields between',
    ...refused,
    body: query('{ pet(id: 1) { ...F } } fragment F on Pet { category { pets { edges { node { ...F } } } } }'),
  },
  {
    name: 'two fragments within each other, each twice',
    ...refused,
    body: query(
      '{ pet(id: 1) { ...F } } fragment F on Pet { category { ...G } a: category { ...G } } fragment G on Category { pets { edges { node { ...F } } } a: pets { edges { node { ...F } } } }',
    ),
  },
  { name: 'one field 990 times', status: 200, body: query(`{ pet(id: 1) { ${'id '.repeat(990)} } }`) },
  {
    name: 'one field 150 times, each with another selection',
    ...refused,
    body: query(`{ ${Array.from({ length: 150 }, (_, n) => `pet(id: 1) { a${n}: name id }`).join(' ')} }`),
  },
  {
    name: 'many fields below each other',
    status: 200,
    body: query(`{ __type(name: "Pet") { ${'ofType { '.repeat(600)} name ${'} '.repeat(600)} } }`),
  },
  {
    name: '49 counts of a substring for 50 categories',
    ...tooComplex,
    body: query(
      `{ categories(first: 50) { edges { node { ${aliases(49, 'pets(filter: { nameContains: "x" }) { totalCount }')} } } } }`,
    ),
  },
  {
    name: 'a number of 60,000 digits',
    status: 400,
    code: 'BAD_USER_INPUT',
    body: query(`{ pets(first: ${'9'.repeat(60_000)}) { totalCount } }`),
  },
  {
    name: 'a filter of a megabyte for 2,400 parents',
    status: 200,
    code: 'BAD_USER_INPUT',
    body: JSON.stringify({
      query: `query ($filter: PetFilter) { categories(first: 50) { edges { node { ${aliases(48, 'pets(first: 1, filter: $filter) { edges { cursor } }')} } } } }`,
      variables: { filter: { categoryIdIn: Array.from({ length: 1_001 }, () => 'x'.repeat(900)) } },
    }),
  },
  {
    name: 'a search of a megabyte for 400 parents',
    status: 200,
    code: 'BAD_USER_INPUT',
    body: JSON.stringify({
      query: `query ($filter: PetFilter) { categories(first: 50) { edges { node { ${aliases(8, 'pets(first: 1, filter: $filter) { edges { cursor } }')} } } } }`,
      variables: { filter: { nameContains: 'x'.repeat(1_000_000) } },
    }),
  },
  {
    name: 'a cursor of a megabyte for 2,400 parents, whose pages are not read',
    status: 200,
    code: 'BAD_USER_INPUT',
    body: JSON.stringify({
      query: `query ($after: String) { categories(first: 49) { edges { node { ${aliases(48, 'pets(first: 1, after: $after) { __typename }')} } } } }`,
      variables: { after: 'x'.repeat(1_000_000) },
    }),
  },
  {
    name: '49 new names of a megabyte',
    status: 200,
    code: 'BAD_USER_INPUT',
    body: JSON.stringify({
      query: `mutation ($name: String!) { ${aliases(49, 'createCategory(input: { name: $name }) { category { id } }')} }`,
      variables: { name: '😀'.repeat(250_000) },
    }),
  },
  {
    name: '4,500 ids of nodes, of 10,000 letters each',
    status: 200,
    code: 'BAD_USER_INPUT',
    body: JSON.stringify({
      query: `query ($ids: [ID!]!) { ${aliases(45, 'nodes(nodeIds: $ids) { nodeId }')} }`,
      variables: { ids: Array.from({ length: 100 }, () => 'x'.repeat(10_000)) },
    }),
  },
  {
    name: 'one directive 250 times',
    ...refused,
    body: query(`{ pets ${'@include(if: true) '.repeat(250)} { totalCount } }`),
  },
  { name: 'a name of 60,000 letters', ...refused, body: query(`{ ${'n'.repeat(60_000)} }`) },
];
