import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import { buildSchema, introspectionFromSchema } from 'graphql';

import { startTestApp } from '../../support/test-app.ts';

/** Every name that introspection would tell. */
const names = new Set(
  JSON.stringify(
    introspectionFromSchema(buildSchema(readFileSync('schema.graphql', 'utf8')), { descriptions: false }),
  ).match(/(?<="name":")\w+/g),
);

const create = 'mutation ($data: CreatePetInput!) { createPet(input: $data) { pet { id } } }';

/** Each rule of graphql-js that has names of the schema in its messages, and what else refuses input. */
const refused: readonly [query: string, variables?: Record<string, unknown>][] = [
  ['{ x }'],
  ['{ __schema { types { name } } }'],
  ['{ pets }'],
  ['{ pet { id } }'],
  ['{ pet(id: 1) { id(x: 1) } }'],
  ['{ pet(id: 1, x: 2) { id } }'],
  ['{ pet(id: 1) { id { x } } }'],
  ['{ pet(id: 1) { nam } }'],
  ['{ pet(id: 1) { category { x } } }'],
  ['{ pet(id: 1) { ...F } } fragment F on Category { id }'],
  ['{ pet(id: 1) { ... on Categor { id } } }'],
  ['{ pet(id: 1) @include { id } }'],
  ['query ($x: Boolean) { pet(id: $x) { id } }'],
  ['query ($x: [Int]) { pets(filter: { statusIn: $x }) { totalCount } }'],
  ['{ pets(first: "x") { totalCount } }'],
  ['{ pets(first: null, orderBy: null) { totalCount(x: 1) } }'],
  ['{ orders(filter: { shipDateFrom: "x" }) { totalCount } }'],
  ['{ pets(orderBy: { direction: ASC }) { totalCount } }'],
  ['{ pets(orderBy: { x: 1 }) { totalCount } }'],
  ['{ pets(orderBy: { field: x }) { totalCount } }'],
  ['{ pets(orderBy: { field: "x" }) { totalCount } }'],
  ['{ pets(filter: [1]) { totalCount } }'],
  ['{ a: pet(id: 1) { x: id } a: pet(id: 1) { x: category { id } } }'],
  ['{ a: pets { totalCount } a: pets { x: edges { cursor } x: totalCount } }'],
  ['mutation { createPet { pet { id } } }'],
  ['mutation { createPet(input: {}) { pet { id } } }'],
  ['mutation { createPet(input: { name: null, categoryId: 1 }) { pet { id } } }'],
  ['mutation { createPet(input: { name: {}, categoryId: 1 }) { pet { id } } }'],
  ['mutation { createPet(input: { name: "x", categoryId: 1, status: "x" }) { pet { id } } }'],
  ['mutation { updatePet(input: { id: 1 }) { pet { id } } }'],
  [create, { data: {} }],
  [create, { data: { name: 1, categoryId: {}, status: 'x' } }],
  [create, { data: { name: 'x', categoryId: '1', x: 1 } }],
  [create, { data: 1 }],
  [create],
  ['query ($x: ID = 1) { pet(id: $x) { id } }', { x: null }],
  ['query ($x: [PetStatus!]) { pets(filter: { statusIn: $x }) { totalCount } }', { x: ['x'] }],
  ['query ($x: Int) { pets(first: $x) { totalCount } }', { x: 'x' }],
  ['query ($x: DateTime) { orders(filter: { shipDateFrom: $x }) { totalCount } }', { x: 'x' }],
];

/** Names that are like no word of English, and any name between quotes. */
function namesSaid(errors: readonly { message: string; extensions: object }[], sent: string): string[] {
  const known = new Set(sent.match(/\w+/g));
  const text = errors.map(({ message }) => message).join(' ');
  const quoted = text.match(/"[^"]*"/g) ?? [];
  const said = [...(quoted.join(' ').match(/\w+/g) ?? []), ...(text.match(/[a-z]+(?:[A-Z]\w*|_\w+)|[A-Z]\w+/g) ?? [])];
  return said.filter((word) => names.has(word) && !known.has(word));
}

const closed = await startTestApp({ GRAPHQL_INTROSPECTION: 'false' });

it('what names the schema is found: a type, a field, an argument', () => {
  const message = 'Cannot query field "nam" on type "Pet". Did you mean "name"? Argument "first" is no Int.';
  expect(namesSaid([{ message, extensions: {} }], '{ pets(first: 1) { nam } }')).toEqual(['Pet', 'name', 'Pet', 'Int']);
});

describe('with introspection off', () => {
  it.each(refused.map(([query, variables = {}]) => [query, variables] as const))(
    'a refusal names nothing of the schema that the client has not sent: %s %j',
    async (query, variables) => {
      const { errors } = await closed.graphql(query, variables);
      expect(errors).not.toHaveLength(0);
      expect(namesSaid(errors, `${query} ${JSON.stringify(variables)}`)).toEqual([]);
      expect(errors[0]!.message).not.toMatch(/did you mean/i);
      expect(errors[0]!.extensions.status).toBe(400);
    },
  );

  it('neither the metrics nor the guides nor the SDL, which need no key, name a root field', async () => {
    await closed.graphql('{ inventoryItem(petId: 1) { id } eventCursor }');
    await closed.graphql('{ inventoryItem(petId: 1) { id } }');
    await closed.graphql('{ pets(first: -1) { totalCount } }');
    const { text: metrics } = await closed.ask('GET', '/metrics');
    expect(metrics).toMatch(/petstore_requests_total{operation="query",status="200"} [1-9]/);
    expect(metrics).toMatch(/petstore_graphql_errors_total{operation="query",code="BAD_USER_INPUT"} [1-9]/);
    expect(metrics).not.toMatch(/inventoryItem|"query pets"/);
    for (const url of ['/docs/graphql', '/schema.graphql']) {
      const { status, headers, text } = await closed.ask('GET', url);
      expect([status, text]).toEqual([404, expect.stringContaining('GRAPHQL_INTROSPECTION')]);
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    }
  });

  it('says what is wrong all the same', async () => {
    const messages = async (query: string, variables?: Record<string, unknown>) => {
      const { errors } = await closed.graphql(query, variables);
      return errors.map(({ message, extensions }) => [message, extensions.violations?.map(({ field }) => field)]);
    };
    expect(await messages('{ pet(id: 1) { nam } }')).toEqual([['Cannot query field "nam" on type "…".', undefined]]);
    expect(await messages('{ pet(id: 1, x: 2) { id } }')).toEqual([
      ['Unknown argument "x" on field "pet".', undefined],
    ]);
    expect(await messages('{ pets(first: "x") { totalCount } }')).toEqual([
      ['… cannot represent non-integer value: "x"', ['first']],
    ]);
    expect(await messages(create, { data: { name: 'Rex' } })).toEqual([
      ['input: Field "…" of required type "…" was not provided.', ['input']],
    ]);
  });
});
