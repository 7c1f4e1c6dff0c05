import { expect, it } from '@jest/globals';
import { buildSchema, parse, visit, type FieldNode, type OperationDefinitionNode } from 'graphql';

import { PreparedOperation } from '../../../src/platform/executor/operation.ts';

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
