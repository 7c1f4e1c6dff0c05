import type { GraphQLField, GraphQLResolveInfo } from 'graphql';
import { Extensions } from 'type-graphql';

import type { Include } from '../domain/store.ts';

/**
 * Marks a field that answers the one row that its own refers to, and that may be included in it under the field's name.
 *
 * Then it isn't resolved, so that TypeGraphQL's middleware must have nothing to say about it. Null is a value, undefined is none.
 */
export function ToOne(): MethodDecorator {
  return Extensions({ toOne: true });
}

export function isToOne(field: GraphQLField<unknown, unknown>): boolean {
  return field.extensions['toOne'] === true;
}

/** `info` as prepared operations give it to resolvers. */
export interface PreparedInfo extends GraphQLResolveInfo {
  readonly relations: () => readonly string[];
}

/**
 * Which of the relations the operation selects of the rows that this field answers: itself, in a connection, or in a payload.
 *
 * Known once for each prepared operation, so that rows are read together with what belongs to them.
 */
export function relationsOf<Relation extends string>(
  info: GraphQLResolveInfo,
  all: Include<Relation>,
): Include<Relation> {
  const selected = (info as PreparedInfo).relations();
  return all.filter((relation) => selected.includes(relation));
}
