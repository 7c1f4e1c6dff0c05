import { expect, it } from '@jest/globals';
import { buildSchema, parse } from 'graphql';

import { createExecutor, type ExecutionRequest } from '../../src/graphql/executor.ts';

const schema = buildSchema('type Query { isCompiled(after: Int): Boolean }');
schema.getQueryType()!.getFields()['isCompiled']!.resolve = async () => new Error().stack?.includes('graphql-jit');

/** Asks for the document so many times at once, and answers which of them ran in compiled form. */
function ask(text: string): (times: number) => Promise<unknown[]> {
  const execute = createExecutor(schema);
  const document = parse(text);
  const [operation] = document.definitions;
  const request = { document, operation, request: {}, context: {} } as unknown as ExecutionRequest;
  return (times) =>
    Promise.all(Array.from({ length: times }, async () => (await execute(request)).data?.['isCompiled']));
}

it('compiles an operation from its third use on, however many are under way', async () => {
  const run = ask('{ isCompiled }');
  expect(await run(8)).toEqual([false, false, true, true, true, true, true, true]);
  expect(await run(2)).toEqual([true, true]);
});

it.each(['query ($v: Int) { isCompiled(after: $v) @skip(if: false) }', '{ isCompiled __proto__: __typename }'])(
  'leaves to graphql-js what graphql-jit does otherwise: %s',
  async (text) => {
    const run = ask(text);
    expect(await run(5)).toEqual([false, false, false, false, false]);
  },
);
