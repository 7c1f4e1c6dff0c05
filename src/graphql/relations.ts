import type { GraphQLField, GraphQLResolveInfo } from 'graphql';

/** True for a field that answers the one object that its own refers to, and that may stand on the row already under the field's name. */
export function isToOne(field: GraphQLField<unknown, unknown>): boolean {
  return field.extensions['toOne'] === true;
}

/** `info` as prepared operations give it to resolvers. */
export interface PreparedInfo extends GraphQLResolveInfo {
  readonly relations: () => readonly string[];
}
