import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';

import { sampleLimits, startSampleServer, type SampleServer } from './sample-server.ts';

let sample: SampleServer;

beforeAll(async () => {
  sample = await startSampleServer();
});

afterAll(() => sample.server.close());

async function run(
  query: string,
  variables: Record<string, unknown> = {},
): Promise<{ status: number; errors: { message: string; extensions: Record<string, unknown> }[] }> {
  const response = await sample.post({ query, variables });
  const { errors = [] } = response.json();
  return { status: response.statusCode, errors };
}

async function expectAllowed(query: string, variables?: Record<string, unknown>): Promise<void> {
  expect(await run(query, variables)).toEqual({ status: 200, errors: [] });
}

async function expectRefused(query: string, message: string, variables?: Record<string, unknown>): Promise<void> {
  expect(await run(query, variables)).toEqual({
    status: 400,
    errors: [{ message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED', status: 400 } }],
  });
}

const friends = (depth: number, leaf = 'id'): string => '{ friend '.repeat(depth) + `{ ${leaf} }` + ' }'.repeat(depth);
const tooDeep = 'The operation is 16 fields deep, but at most 15 are allowed.';
const aliases = (count: number): string => Array.from({ length: count }, (_, index) => `a${index}: id`).join(' ');
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

describe('depth', () => {
  it('allows 15 fields inside each other and refuses 16', async () => {
    await expectAllowed(`{ pet(id: 1) ${friends(13)} }`);
    await expectRefused(`{ pet(id: 1) ${friends(14)} }`, tooDeep);
  });

  it('sees through fragments, named and inline', async () => {
    const fragments = `fragment A on Pet { ... on Pet { ...B } } fragment B on Pet ${friends(10)}`;
    await expectAllowed(`{ pet(id: 1) ${friends(3, '...A')} } ${fragments}`);
    await expectRefused(`{ pet(id: 1) ${friends(4, '...A')} } ${fragments}`, tooDeep);
  });

  it('counts through interfaces', async () => {
    await expectRefused(`{ node(id: 1) { id ... on Pet ${friends(14)} } }`, tooDeep);
  });

  it('leaves __typename out', async () => {
    await expectAllowed(`{ pet(id: 1) ${friends(13, 'id friend { __typename }').replace('id friend', 'friend')} }`);
  });

  it('looks only at what is executed', async () => {
    const query = `query ($deep: Boolean = false) { pet(id: 1) { id friend @include(if: $deep) ${friends(13)} } }`;
    await expectAllowed(query);
    await expectAllowed(query.replace('@include', '@skip'), { deep: true });
    await expectRefused(query, tooDeep, { deep: true });
    await expectRefused(query.replace('@include', '@skip'), tooDeep);
    await expectAllowed(`query A { pet(id: 1) { id } }`);
  });
});

describe('aliases', () => {
  it('allows 50 and refuses 51', async () => {
    await expectAllowed(`{ pet(id: 1) { ${aliases(50)} } }`);
    await expectRefused(
      `{ pet(id: 1) { ${aliases(51)} } }`,
      'The operation has 51 aliases, but at most 50 are allowed.',
    );
  });

  it('counts those of a fragment each time it is spread', async () => {
    const fragment = `fragment F on Pet { ${aliases(17)} }`;
    await expectAllowed(`{ pet(id: 1) { ...F friend { ...F } } } ${fragment}`);
    await expectRefused(
      `{ pet(id: 1) { ...F friend { ...F friend { ...F } } } } ${fragment}`,
      'The operation has 51 aliases, but at most 50 are allowed.',
    );
  });

  it('counts those of introspection and of __typename too', async () => {
    const names = Array.from({ length: 51 }, (_, index) => `a${index}: __typename`).join(' ');
    await expectRefused(`{ ${names} }`, 'The operation has 51 aliases, but at most 50 are allowed.');
    await expectRefused(
      `{ __schema { queryType { ${aliases(51).replaceAll('id', 'name')} } } }`,
      'The operation has 51 aliases, but at most 50 are allowed.',
    );
  });
});

describe('complexity', () => {
  it('multiplies the nodes of connections inside each other; edges and page information are free', async () => {
    // 100 pets, their 100 categories, and 48 pets of each: 100 + 100 + 4,800.
    const query = (first: number): string =>
      `{ ${petsOf('(first: 100)', `category { pets(first: ${first}) { pageInfo { hasNextPage } edges { cursor node { id } } } }`)} }`;
    await expectAllowed(query(48));
    await expectTooComplex(query(49), 5100, 'pets counts 5100 with 100 entries, with 49 of category.pets in each');
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
    ['an object, 1', 'pet(id: 1) { id }', 1],
    ['a field that is no object, nothing', 'echo', 0],
  ])('counts %s', async (_what, selection, cost) => {
    const fragment =
      'fragment F on Query { pets(first: 100) { totalCount ...G } } fragment G on PetConnection { edges { cursor } }';
    const strict = await startSampleServer({ limits: { ...sampleLimits, maxComplexity: cost } });
    const query = (more: string): string =>
      `query ($ids: [ID!]!) { used: nodes(nodeIds: $ids) @include(if: false) { id } ${selection} ${more} } ${selection.includes('...F') ? fragment : ''}`;
    const variables = { ids: ['1', '2', '3', '4'] };
    expect((await strict.post({ query: query(''), variables })).json()).not.toHaveProperty('errors');
    const refused = await strict.post({ query: query('more: pet(id: 1) { id }'), variables });
    expect(refused.json().errors[0].extensions).toMatchObject({ complexity: cost + 1, maxComplexity: cost });
    expect(refused.headers['x-graphql-complexity']).toBe(String(cost + 1));
    expect(strict.refusals).toEqual(['complexity']);
    await strict.server.close();
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

  it('counts what it is given exactly: 5,000 are allowed', async () => {
    const query = (extra: string): string =>
      `{ ${petsOf('(first: 100)', `category { ${petsOf('(first: 48)', 'id')} }`)} ${extra} }`;
    await expectAllowed(query(''));
    await expectTooComplex(
      query('pet(id: 1) { id }'),
      5001,
      'pets counts 5000 with 100 entries, with 48 of category.pets in each',
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
    await strict.server.close();
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

  it('allows what is skipped', async () => {
    await expectAllowed(
      `query ($all: Boolean!) { ${petsOf('(first: 100) @include(if: $all)', `category { ${petsOf('(first: 100)', 'id')} }`)} }`,
      { all: false },
    );
  });
});

describe('tokens', () => {
  it('allows 2,000 and refuses 2,001', async () => {
    // `{ pet(id: 1) {` and `} }` are 10 tokens, `... { id }` are 4.
    const query = (extra: string): string => `{ pet(id: 1) { ${'... { id } '.repeat(496)} ${extra} } }`;
    await expectAllowed(query('id id id id id id'));
    const { status, errors } = await run(query('id id id id id id id'));
    expect({ status, errors }).toMatchObject({
      status: 400,
      errors: [
        {
          message: 'The document has too many tokens: at most 2000 are allowed.',
          extensions: { code: 'GRAPHQL_PARSE_FAILED', status: 400 },
        },
      ],
    });
  });
});

describe('fields', () => {
  const tooMany = (fields: number): string => `The operation selects ${fields} fields, but at most 1000 are allowed.`;

  it('allows 1,000 selected fields and refuses 1,001', async () => {
    const pets = Array.from({ length: 10 }, (_, n) => `p${n}: pet(id: 1) { ${'id '.repeat(99)} }`).join(' ');
    await expectAllowed(`{ ${pets} }`);
    await expectRefused(`{ ${pets} __typename }`, tooMany(1001));
  });

  it('counts those of a fragment each time it is spread, and what is skipped', async () => {
    const fragment = `fragment F on Pet { ${'id '.repeat(100)} }`;
    const query = (spreads: number, more: string): string =>
      `{ pet(id: 1) @skip(if: true) { ${'...F '.repeat(spreads)} ${more} } } ${fragment}`;
    await expectAllowed(query(9, 'id '.repeat(99)));
    await expectRefused(query(10, ''), tooMany(1001));
  });

  it('is counted before validation, unused fragments and unknown fields too', async () => {
    await expectRefused(`{ unknown } fragment F on Unknown { ${'unknown '.repeat(1001)} }`, tooMany(1001));
  });

  it('leaves fragments within themselves to validation', async () => {
    const { errors } = await run(`{ ...F } fragment F on Query { ${'echo '.repeat(600)} ...F }`);
    expect(errors[0]!.message).toMatch(/Cannot spread fragment "F" within itself/);
  });
});

describe('introspection', () => {
  it('passes with everything that the explorers ask for', async () => {
    await expectAllowed(
      getIntrospectionQuery({
        descriptions: true,
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        inputValueDeprecation: true,
        oneOf: true,
      }),
    );
  });

  it('costs nothing', async () => {
    const strict = await startSampleServer({
      limits: { ...sampleLimits, maxDepth: 1, maxComplexity: 0, maxAliases: 0 },
    });
    const response = await strict.post({ query: getIntrospectionQuery() });
    expect(response.json().errors).toBeUndefined();
    await strict.server.close();
  });

  it('can be switched off', async () => {
    const closed = await startSampleServer({ introspection: false });
    const response = await closed.post({ query: '{ __schema { queryType { name } } }' });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    await closed.server.close();
  });
});

describe('a bomb is refused at once', () => {
  const chain = (spreads: (next: string) => string, length: number): string =>
    Array.from({ length }, (_, index) => `fragment F${index} on Pet { id ${spreads(`...F${index + 1}`)} }`).join(' ') +
    ` fragment F${length} on Pet { id category { id } }`;
  const bombs: [name: string, query: string][] = [
    [
      'lists in lists',
      `{ pet(id: 1) { ...F0 } } ${chain((next) => `category { pets(first: 100) { edges { node { ${next} } } } }`, 75)}`,
    ],
    [
      'bombs in an empty page',
      `{ pets(first: 0) { edges { node { ...F0 } } } } ${chain((next) => `${next} friend { ${next} }`, 140)}`,
    ],
  ];

  it.each(bombs)('%s', async (_name, query) => {
    // What grew with the expanded document would take longer than any test may.
    const { status, errors } = await run(query);
    expect(status).toBe(400);
    expect(errors[0]!.extensions['code']).toMatch(/^(?:GRAPHQL_VALIDATION_FAILED|COMPLEXITY_LIMIT_EXCEEDED)$/);
  });
});
