import { describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';

import { sampleLimits, startSampleServer } from '../sample-server.ts';

const sample = await startSampleServer();

const { run } = sample;

async function expectAllowed(query: string, variables?: Record<string, unknown>): Promise<void> {
  expect(await run(query, variables)).toMatchObject({ status: 200, errors: [] });
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
  });
});
