import { expect, it } from '@jest/globals';
import {
  buildSchema,
  Kind,
  parse,
  visit,
  type FieldNode,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql';

import { collectFields, fragmentsIn, isIncluded, PreparedOperation } from '../../../src/platform/executor/index.ts';

const schema = buildSchema('type Pet { name: String } type Query { pets: [Pet] }');
const rows = 1_000;
schema.getQueryType()!.getFields()['pets']!.resolve = () => Array.from({ length: rows }, () => ({ name: 'Rex' }));

it('a condition that is null is an error of each object, but their selection is read only once', async () => {
  const document = parse('query ($maybe: Boolean = true) { pets { name @include(if: $maybe) } }');
  const [operation] = document.definitions as [OperationDefinitionNode];
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
  const prepared = new PreparedOperation({ schema, document, operation });
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
