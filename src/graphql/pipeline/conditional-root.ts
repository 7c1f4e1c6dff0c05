import { GraphQLError, Kind, OperationTypeNode, type DocumentNode, type SelectionSetNode } from 'graphql';

import { fragmentsIn } from '../executor/collect-fields.ts';

/**
 * Whether the root fields of a subscription depend on `@skip` or `@include`, as the specification forbids (September
 * 2025, 5.2.4.1). graphql-js 16 evaluates them while it validates, without variables, and throws.
 */
export function hasConditionalRoot(document: DocumentNode): boolean {
  const fragments = fragmentsIn(document);
  const spread = new Set<string>();
  const waiting: SelectionSetNode[] = [];
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION && definition.operation === OperationTypeNode.SUBSCRIPTION)
      waiting.push(definition.selectionSet);
  }
  for (let set = waiting.pop(); set !== undefined; set = waiting.pop()) {
    for (const selection of set.selections) {
      const isConditional = selection.directives?.some(
        ({ name: { value } }) => value === 'skip' || value === 'include',
      );
      if (isConditional === true) return true;
      if (selection.kind === Kind.INLINE_FRAGMENT) waiting.push(selection.selectionSet);
      if (selection.kind !== Kind.FRAGMENT_SPREAD) continue;
      const { value: name } = selection.name;
      const { [name]: fragment } = fragments;
      // Each is visited once, however often it is spread.
      if (fragment !== undefined && !spread.has(name)) waiting.push(fragment.selectionSet);
      spread.add(name);
    }
  }
  return false;
}

export const conditionalRoot = new GraphQLError(
  'The root field of a subscription must not depend on @skip or @include: leave them out.',
  { extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } } },
);
