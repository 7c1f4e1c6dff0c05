import type { GraphQLResolveInfo } from 'graphql';

/** `info` as prepared operations pass it to resolvers. What is selected is computed once for each operation. */
export interface PreparedInfo extends GraphQLResolveInfo {
  /** The relations of the rows that the field returns. */
  readonly relations: () => readonly string[];
  /** The names of the fields that are selected on the object that the field returns. */
  readonly selected: () => readonly string[];
}
