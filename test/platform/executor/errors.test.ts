import { expect, it } from '@jest/globals';
import { buildSchema, parse, type OperationDefinitionNode } from 'graphql';

import { PreparedOperation } from '../../../src/platform/executor/index.ts';

const schema = buildSchema(`
  type Pet { name: String }
  type Query { pets: [Pet] }
  type Mutation { change: [Pet], remove: Boolean }
`);
const pets = Array.from({ length: 150 }, (_, n) => ({ name: new Error(`name ${n}`) }));
const { change, remove } = schema.getMutationType()!.getFields();
change!.resolve = () => pets;
remove!.resolve = () => {
  throw new Error('not removed');
};

it('keeps 100 errors, those of all root fields among them', async () => {
  const document = parse('mutation { change { name } remove again: change { name } last: remove }');
  const [operation] = document.definitions as [OperationDefinitionNode];
  const prepared = new PreparedOperation({ schema, document, operation });
  const { errors, omittedErrors } = await prepared.run({ context: {}, variables: {}, maxBytes: 100_000 });
  expect(errors).toHaveLength(100);
  expect(omittedErrors).toBe(202);
  expect(errors.filter(({ path }) => path!.length === 1).map(({ path, message }) => [path, message])).toEqual([
    [['remove'], 'not removed'],
    [['last'], 'not removed'],
  ]);
});
