import { expect, it } from '@jest/globals';
import { parse, type OperationDefinitionNode } from 'graphql';

import { Accounts } from '../../../src/platform/callers/index.ts';
import { Measures } from '../../../src/graphql/pipeline/measures.ts';
import { operationKey, type KnownOperation, Documents } from '../../../src/graphql/pipeline/documents.ts';
import { DeclaredVariables } from '../../../src/graphql/pipeline/variables.ts';
import { PreparedOperation } from '../../../src/platform/executor/operation.ts';
import { createSampleSchema } from '../../platform/executor/sample-schema.ts';

const schema = createSampleSchema();

function operationOf(text: string): KnownOperation {
  const document = parse(text);
  const source = { schema, document, operation: document.definitions[0] as OperationDefinitionNode };
  return {
    source,
    prepared: new PreparedOperation(source),
    measures: new Measures(source),
    variables: new DeclaredVariables(source),
    isAtomic: false,
    deprecated: [],
    fieldCount: 1,
    bytes: 1,
  };
}

it('stores an operation that is sent for the second time', () => {
  const cache = new Documents(new Accounts());
  const text = '{ __typename }';
  cache.add(operationKey(text, undefined), operationOf(text));
  expect(cache.find(operationKey(text, undefined))).toBeUndefined();
  const again = operationOf(text);
  cache.add(operationKey(text, undefined), again);
  expect(cache.find(operationKey(text, undefined))).toBe(again);
  expect(cache.find(operationKey(text, 'Other'))).toBeUndefined();
});

it('keeps the operations in use while a client sends new ones only', () => {
  const cache = new Documents(new Accounts());
  const used = '{ __typename }';
  for (let time = 0; time < 2; time += 1) cache.add(operationKey(used, undefined), operationOf(used));
  // Together more than fits.
  for (let index = 0; index < 20_000; index += 1) {
    const text = `{ new${index}: __typename }`;
    cache.add(operationKey(text, undefined), operationOf(text));
    expect(cache.find(operationKey(text, undefined))).toBeUndefined();
  }
  expect(cache.find(operationKey(used, undefined))).toBeDefined();
});

it('finds no operation of another document, whatever is in a comment or a name', () => {
  const cache = new Documents(new Accounts());
  const operation = { prepared: { maxVariants: 1 }, fieldCount: 1 } as KnownOperation;
  for (let time = 0; time < 2; time += 1) cache.add(operationKey('T', 'A'), operation);
  expect(cache.find(operationKey('T', 'A'))).toBe(operation);
  for (const [text, name] of [
    ['T\0A', undefined],
    ['A\0T', undefined],
    ['1:AT', undefined],
    ['', 'AT'],
    ['AT', ''],
  ] as const) {
    expect(cache.find(operationKey(text, name))).toBeUndefined();
  }
});
