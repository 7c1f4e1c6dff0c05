import { Kind, type DocumentNode, type FragmentDefinitionNode } from 'graphql';

/** The fragments of a document by name. */
export function fragmentsIn({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return fragments;
}
