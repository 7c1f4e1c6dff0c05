import { expect, it } from '@jest/globals';
import {
  buildSchema,
  GraphQLEnumType,
  Kind,
  parse,
  visit,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql';

import { collectFields, fragmentsIn, isIncluded, PreparedOperation } from '../../../src/platform/executor/index.ts';
import { Run } from '../../../src/platform/executor/run.ts';
import { prepareLeaf } from '../../../src/platform/executor/write.ts';

// What the comparison with graphql-js doesn't show.

function prepare(schema: GraphQLSchema, document: ReturnType<typeof parse>): PreparedOperation {
  const [operation] = document.definitions as [OperationDefinitionNode];
  return new PreparedOperation({ schema, document, operation });
}

it('a condition that is null is an error of each object, but their selection is read only once', async () => {
  const schema = buildSchema('type Pet { name: String } type Query { pets: [Pet] }');
  const rows = 1_000;
  schema.getQueryType()!.getFields()['pets']!.resolve = () => Array.from({ length: rows }, () => ({ name: 'Rex' }));
  const document = parse('query ($maybe: Boolean = true) { pets { name @include(if: $maybe) } }');
  let reads = 0;
  const countReads = (node: FieldNode): void => {
    const { directives } = node;
    const get = (): unknown => {
      reads += 1;
      return directives;
    };
    if (node.name.value === 'name') Object.defineProperty(node, 'directives', { get });
  };
  visit(document, { Field: countReads });
  const prepared = prepare(schema, document);
  reads = 0;
  const { data, errors, omittedErrors } = await prepared.run({
    context: undefined,
    variables: { maybe: null },
    maxBytes: 2 ** 20,
  });
  expect(JSON.parse(data!.text)).toEqual({ pets: Array(rows).fill(null) });
  expect(errors.length + omittedErrors).toBe(rows);
  expect(reads).toBeLessThan(20);
});

it('a fragment that does not apply is decided by its first spread: a later condition may be null', () => {
  const types = buildSchema(
    'interface Named { name: String } type Pet implements Named { name: String } type Query { pet: Named }',
  );
  const { definitions } = parse(
    '{ ...P ...P @skip(if: $maybe) ...Q @skip(if: true) ...Q } fragment P on Pet { name } fragment Q on Query { pet }',
  );
  const document = { kind: Kind.DOCUMENT, definitions } as const;
  const [operation] = definitions as [OperationDefinitionNode];
  const place = { schema: types, fragments: fragmentsIn(document) };
  const isSelected = (node: SelectionNode): boolean => isIncluded(node, { maybe: null });
  const fields = collectFields(place, types.getQueryType()!, [operation.selectionSet], isSelected);
  expect([...fields.keys()]).toEqual(['pet']);
});

it('keeps 100 errors, those of all root fields among them', async () => {
  const schema = buildSchema(`
    type Pet { name: String }
    type Query { pets: [Pet] }
    type Mutation { change: [Pet], remove: Boolean }
  `);
  const { change, remove } = schema.getMutationType()!.getFields();
  change!.resolve = () => Array.from({ length: 150 }, (_, n) => ({ name: new Error(`name ${n}`) }));
  remove!.resolve = () => {
    throw new Error('not removed');
  };
  const document = parse('mutation { change { name } remove again: change { name } last: remove }');
  const { errors, omittedErrors } = await prepare(schema, document).run({
    context: {},
    variables: {},
    maxBytes: 100_000,
  });
  expect(errors).toHaveLength(100);
  expect(omittedErrors).toBe(202);
  expect(errors.filter(({ path }) => path!.length === 1).map(({ path, message }) => [path, message])).toEqual([
    [['remove'], 'not removed'],
    [['last'], 'not removed'],
  ]);
});

it("writes an enum's values as its `serialize` does", () => {
  const values = { A: { value: 'x' }, B: { value: 'x' }, ONE: { value: 1 }, NONE: { value: Number.NaN } };
  const type = new GraphQLEnumType({ name: 'Kind', values });
  const { append } = prepareLeaf(type);
  const run = new Run({ context: undefined, variables: {}, maxBytes: 1_000 });
  for (const value of ['x', 1, Number.NaN])
    expect(`"${append('', value, run)}"`).toBe(JSON.stringify(type.serialize(value)));
  for (const value of ['A', '1']) expect(() => append('', value, run)).toThrow('Enum "Kind" cannot represent value');
});
