import { Kind, type DocumentNode, type SelectionNode, type SelectionSetNode } from 'graphql';

import { fragmentsIn } from '../executor/collect-fields.ts';

/**
 * How many fields a document selects: the most of any of its operations and fragments, with the fragments within
 * expanded, whatever `@skip` and `@include` say.
 *
 * For documents that are not validated yet: each fragment is counted once, so that the work grows with the text alone.
 * A fragment within itself counts as empty there; validation refuses it.
 */
export function countSelectedFields(document: DocumentNode): number {
  const fragments = fragmentsIn(document);
  const counts = new Map<string, number>();
  const ofFragment = (name: string): number => {
    const known = counts.get(name);
    if (known !== undefined) return known;
    counts.set(name, 0);
    const { [name]: fragment } = fragments;
    const count = fragment === undefined ? 0 : ofSelections(fragment.selectionSet);
    counts.set(name, count);
    return count;
  };
  const ofSelection = (selection: SelectionNode): number => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return ofSelections(selection.selectionSet);
    return 1 + (selection.selectionSet === undefined ? 0 : ofSelections(selection.selectionSet));
  };
  // Repeated doubling would reach infinity.
  const ofSelections = ({ selections }: SelectionSetNode): number =>
    selections.reduce((count, selection) => Math.min(count + ofSelection(selection), Number.MAX_SAFE_INTEGER), 0);

  let most = 0;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) most = Math.max(most, ofFragment(definition.name.value));
    if (definition.kind === Kind.OPERATION_DEFINITION) most = Math.max(most, ofSelections(definition.selectionSet));
  }
  return most;
}
