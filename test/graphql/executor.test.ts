import { expect, it } from '@jest/globals';
import { buildSchema, parse } from 'graphql';

import { compilingExecutor } from '../../src/graphql/executor.ts';

const schema = buildSchema('type Query { isCompiled(after: Int): Boolean }');
schema.getQueryType()!.getFields()['isCompiled']!.resolve = async () => new Error().stack?.includes('graphql-jit');

/** Asks for the document so many times at once, and answers which of them ran in compiled form. */
async function ask(text: string): Promise<(times: number) => Promise<unknown[]>> {
  const { executor } = await compilingExecutor(schema).load({ apollo: {} });
  const document = parse(text);
  const [operation] = document.definitions;
  const request = { document, operation, request: { variables: {} }, context: {} } as never;
  return (times) =>
    Promise.all(Array.from({ length: times }, async () => (await executor!(request)).data?.['isCompiled']));
}

it('compiles an operation from its third use on, however many are under way', async () => {
  const run = await ask('{ isCompiled }');
  expect(await run(8)).toEqual([false, false, true, true, true, true, true, true]);
  expect(await run(2)).toEqual([true, true]);
});

it.each(['query ($v: Int) { isCompiled(after: $v) @skip(if: false) }', '{ isCompiled __proto__: __typename }'])(
  'leaves to graphql-js what graphql-jit does otherwise: %s',
  async (text) => {
    const run = await ask(text);
    expect(await run(5)).toEqual([false, false, false, false, false]);
  },
);
