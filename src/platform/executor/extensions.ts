import type { GraphQLField, GraphQLResolveInfo } from 'graphql';

/** The schema's own words in a field's `extensions`. */
export interface FieldExtensions {
  /** The field is the one related object, which its own object may include under this name. */
  readonly toOne?: string;
  /** Its resolver computes it from its object alone: it loads nothing, and returns no promise. */
  readonly computed?: true;
}

export function extensionsOf({ extensions }: GraphQLField<unknown, unknown>): FieldExtensions {
  return extensions;
}

/** `info` as prepared operations pass it to resolvers. What is selected is computed once for each operation. */
export interface PreparedInfo extends GraphQLResolveInfo {
  /** The relations that are selected on the rows that the field returns: directly, in a connection, or in a payload. */
  readonly relations: () => readonly string[];
  /** The names of the fields that are selected on the object that the field returns. */
  readonly selected: () => readonly string[];
}

/** On an object that has rows: the relations that each of them includes, so that they need no resolver. */
export const included = Symbol('included');
