import type { GraphQLObjectType } from 'graphql';

import { extensionsOf } from './extensions.ts';

/** A row's type has fields that are the one related row. */
export function isRow(type: GraphQLObjectType): boolean {
  return Object.values(type.getFields()).some((field) => extensionsOf(field).toOne !== undefined);
}

export function sortedOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
}
