import { describe, expect, it } from '@jest/globals';
import { buildSchema, getOperationAST, parse } from 'graphql';

import { quotaCost } from '../../../src/graphql/pipeline/admission.ts';
import { Measures } from '../../../src/graphql/pipeline/measures.ts';
import { threadMillis } from '../../support/measurement.ts';

const schema = buildSchema('type Query { pet: Int } type Mutation { createPet: Int }');

function measured(text: string, variables: Record<string, unknown>) {
  const document = parse(text);
  const operation = getOperationAST(document, 'Q') ?? getOperationAST(document)!;
  return { operation, measure: new Measures({ schema, document, operation }).for(variables) };
}

const costOf = (text: string, variables: Record<string, unknown> = {}): number =>
  quotaCost(measured(text, variables).measure, 2048);

describe('an operation costs 1 for each root field', () => {
  it.each([
    [1, 'a field', '{ pet(id: 1) { id name } }'],
    [2, 'two fields', '{ pet(id: 1) { id } pets { totalCount } }'],
    [3, 'aliases', '{ a: pet(id: 1) { id } b: pet(id: 1) { id } c: pet(id: 1) { id } }'],
    [1, 'equal response keys, which are merged', '{ pet(id: 1) { id } pet(id: 1) { name } ... { pet(id: 1) { id } } }'],
    [1, 'an alias that is the name', '{ pet: pet(id: 1) { id } pet(id: 1) { name } }'],
    [
      2,
      'mutations',
      'mutation { a: deletePet(input: { id: 1 }) { deletedPetId } b: createOrder(input: {}) { order { id } } }',
    ],
    [
      3,
      'an inline fragment',
      '{ ... on Query { a: pet(id: 1) { id } ... { b: pet(id: 1) { id } } } c: pet(id: 1) { id } }',
    ],
    [2, 'a fragment', 'query Q { ...F } fragment F on Query { a: pet(id: 1) { id } b: pet(id: 1) { id } }'],
    [1, 'a fragment twice', 'query Q { ...F ...F } fragment F on Query { a: pet(id: 1) { id } }'],
    [
      2,
      'fragments in each other',
      'query Q { ...F } fragment F on Query { a: pet(id: 1) { id } ...G } fragment G on Query { b: pet(id: 1) { id } }',
    ],
    [
      1,
      'only the operation that is asked for',
      'query Other { a: pet(id: 1) { id } b: pet(id: 2) { id } } query Q { pet(id: 1) { id } }',
    ],
    [1, '@skip', '{ a: pet(id: 1) @skip(if: true) { id } b: pet(id: 1) @skip(if: false) { id } }'],
    [1, '@include', '{ a: pet(id: 1) @include(if: true) { id } b: pet(id: 1) @include(if: false) { id } }'],
    [
      1,
      'both, of which one is enough to leave a field out',
      '{ a: pet(id: 1) @skip(if: true) @include(if: true) { id } b: pet(id: 1) @skip(if: false) @include(if: false) { id } c: pet(id: 1) { id } }',
    ],
    [
      1,
      'a fragment skipped in one place only',
      'query Q { ...F @skip(if: true) ...F } fragment F on Query { a: pet(id: 1) { id } }',
    ],
    [1, 'everything skipped: at least 1', '{ a: pet(id: 1) @skip(if: true) { id } }'],
    [1, '__typename alone', '{ __typename }'],
    [1, 'introspection alone', '{ __schema { queryType { name } } a: __type(name: "Pet") { name } }'],
    [
      2,
      'introspection beside other fields, which is free',
      '{ __typename __schema { queryType { name } } a: pet(id: 1) { id } b: pet(id: 2) { id } }',
    ],
    [0, 'rateLimit alone', '{ rateLimit { remaining } }'],
    [0, 'rateLimit twice', '{ a: rateLimit { remaining } b: rateLimit { limit } }'],
    [0, 'viewer, and both', '{ viewer { name } a: viewer { plan } rateLimit { cost } }'],
    [0, 'rateLimit with __typename', '{ __typename ...F } fragment F on Query { rateLimit { remaining } }'],
    [0, 'rateLimit beside what is skipped', '{ rateLimit { remaining } pets @skip(if: true) { totalCount } }'],
    [1, 'rateLimit with introspection', '{ rateLimit { remaining } __schema { queryType { name } } }'],
    [2, 'rateLimit beside another field', '{ rateLimit { remaining } pet(id: 1) { id } }'],
    [1, 'another field that calls itself rateLimit', '{ rateLimit: pet(id: 1) { id } }'],
    [1, 'another field that calls itself __typename', '{ __typename: pet(id: 1) { id } }'],
  ])('%d: %s', (expected, _what, text) => {
    expect(costOf(text)).toBe(expected);
  });

  it('is free only in a small request', () => {
    const { measure } = measured('{ a: rateLimit { remaining } b: rateLimit { cost } }', {});
    expect([quotaCost(measure, 2048), quotaCost(measure, 2049)]).toEqual([0, 2]);
  });

  it('with what the variables say, and their defaults', () => {
    const text =
      'query Q($no: Boolean = false, $yes: Boolean!) { a: pet(id: 1) @include(if: $no) { id } b: pet(id: 1) @skip(if: $yes) { id } c: pet(id: 1) { id } }';
    expect(costOf(text, { yes: true })).toBe(1);
    expect(costOf(text, { yes: false })).toBe(2);
    expect(costOf(text, { yes: false, no: true })).toBe(3);
    expect(costOf(text, {})).toBe(2);
  });

  it('in no time, however often fragments are spread', () => {
    const fragments = Array.from(
      { length: 300 },
      (_, n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} ... { ...F${n + 1} } a${n}: pet(id: 1) { id } }`,
    );
    const text = `query Q { ...F0 ...F0 } ${fragments.join(' ')} fragment F300 on Query { ...F0 z: pet(id: 1) { id } }`;
    const started = threadMillis();
    expect(costOf(text)).toBe(301);
    expect(threadMillis() - started).toBeLessThan(500);
  });
});

it('an operation is labelled by its root field, never by a name that the client chooses', () => {
  const label = (text: string): string => measured(text, {}).measure.label;
  expect(label('query Made_up { alias: pets { totalCount } }')).toBe('query pets');
  expect(
    label('mutation { a: createOrder(input: {}) { order { id } } b: createOrder(input: {}) { order { id } } }'),
  ).toBe('mutation createOrder');
  expect(label('{ pets { totalCount } orders { totalCount } }')).toBe('query of several fields');
});
