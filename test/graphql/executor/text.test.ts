import { expect, it } from '@jest/globals';
import { buildSchema, GraphQLEnumType, GraphQLError, parse, type OperationDefinitionNode } from 'graphql';

import { prepareLeaf } from '../../../src/graphql/executor/leaf.ts';
import { Run, type Path } from '../../../src/graphql/executor/run.ts';
import { PreparedSelection } from '../../../src/graphql/executor/selection.ts';
import { joinAll, PendingText, promiseOf } from '../../../src/graphql/executor/text.ts';

const path: Path = { prev: undefined, key: 'pets', typename: 'Query' };
const below = (key: string): Path => ({ prev: path, key, typename: 'Pet' });

function newRun(): Run {
  return new Run({}, {}, 1_000);
}

it('joins the parts in their order, whichever is known first', async () => {
  const [first, second] = [new PendingText(), new PendingText()];
  second.settle('b');
  const joined = promiseOf(joinAll({ run: newRun(), path, parts: ['[', first, ',', second, ']'], restLength: 0 }));
  first.settle('a');
  expect(await joined).toBe('[a,b]');
});

it('fails with the first failure, when all parts have ended, and gives back the length of all', async () => {
  const run = newRun();
  const [pending, wrong, alsoWrong] = [new PendingText(), new PendingText(), new PendingText()];
  run.write('{"a":,"b":,"c":}'.length);
  const parts = ['{"a":', pending, ',"b":', wrong, ',"c":', alsoWrong, ''];
  const outcomes: unknown[] = [];
  joinAll({ run, path, parts, restLength: 1 }).listen({
    settle: (text) => outcomes.push(text),
    fail: (error) => outcomes.push(error),
  });
  wrong.fail('the first');
  alsoWrong.fail('the second');
  run.report(below('d'), () => new GraphQLError('An error of what is discarded already.'));
  expect(outcomes).toEqual([]);
  run.write('"late"'.length);
  pending.settle('"late"');
  expect(outcomes).toEqual(['the first']);
  expect([run.length, run.errors]).toEqual([0, []]);
});

it('needs no stack for the depth of a response', async () => {
  const innermost = new PendingText();
  let text: PendingText = innermost;
  for (let level = 0; level < 100_000; level += 1) {
    text = joinAll({ run: newRun(), path, parts: [text], restLength: 0 });
  }
  const whole = promiseOf(text);
  innermost.settle('x');
  expect(await whole).toBe('x');
});

it('still tells others after a listener has thrown', async () => {
  const broken = new PendingText();
  const fail = (): never => {
    throw new Error('A bug.');
  };
  broken.listen({ settle: fail, fail });
  expect(() => broken.settle('x')).toThrow('A bug.');
  const text = new PendingText();
  text.settle('y');
  expect(await promiseOf(text)).toBe('y');
});

it("writes an enum's values as its `serialize` does", () => {
  const values = { A: { value: 'x' }, B: { value: 'x' }, ONE: { value: 1 }, NONE: { value: Number.NaN } };
  const type = new GraphQLEnumType({ name: 'Kind', values });
  const { write } = prepareLeaf(type);
  for (const value of ['x', 1, Number.NaN]) expect(write(value)).toBe(JSON.stringify(type.serialize(value)));
  for (const value of ['A', '1', null]) expect(() => write(value)).toThrow('Enum "Kind" cannot represent value');
});

it.each([
  '{ names }',
  '{ names pet { name status } }',
  '{ pets { name status count isNew note tags pet { name } } }',
  '{ __typename pets { __typename } grid empty { name } }',
])('counts exactly what it writes: %s', (query) => {
  const schema = buildSchema(`
    enum Status { NEW OLD }
    type Pet { name: String! status: Status! count: Int isNew: Boolean note: String tags: [Status] pet: Pet }
    type Query { names: [String!] pet: Pet pets: [Pet] grid: [[Int]] empty: [Pet] }
  `);
  const plain = { name: 'Mia "M"', status: 'OLD', count: null, isNew: true, note: null, tags: [], pet: null };
  const pet = { ...plain, name: 'Rex', status: 'NEW', count: 3, note: 'a\nb', tags: ['NEW', null], pet: plain };
  const source = { names: ['a', '"', 'é'], pet, pets: [pet, null, plain], grid: [[1, null], []], empty: [] };
  const [operation] = parse(query).definitions as [OperationDefinitionNode];
  const variant = { schema, operation, fragments: {}, conditions: {}, prepared: new Map() };
  const run = newRun();
  const text = new PreparedSelection(variant, schema.getQueryType()!, [operation.selectionSet]).write(
    source,
    undefined,
    run,
  );
  expect(run.length).toBe((text as string).length);
});
