import type { GraphQLField, GraphQLResolveInfo } from 'graphql';

/** What a schema says about a field in its `extensions`. */
export interface FieldMarks {
  /** It returns the one related object, which may be included in its own object under the field's name. */
  readonly toOne?: true;
  /** It is computed from its object alone: nothing is loaded, and nothing promised. */
  readonly computed?: true;
  /** A property that is a promise, or a method. */
  readonly promised?: true;
}

export function marksOf({ extensions }: GraphQLField<unknown, unknown>): FieldMarks {
  return extensions;
}

/** `info` as prepared operations pass it to resolvers. What is selected is computed once for each operation. */
export interface PreparedInfo extends GraphQLResolveInfo {
  /** The relations that are selected on the rows that the field returns: directly, in a connection, or in a payload. */
  readonly relations: () => readonly string[];
  /** The names of the fields that are selected on the object that the field returns. */
  readonly selected: () => readonly string[];
}

/** On an object with rows: the relations that each of them includes, so that the rows needn't be asked. */
export const included = Symbol('included');
