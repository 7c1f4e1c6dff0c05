import type { GraphQLField, GraphQLResolveInfo } from 'graphql';
import { Extensions } from 'type-graphql';

import type { Include } from '../domain/store.ts';

/**
 * Marks a field that returns the one related row, which may be included in its own row under the field's name.
 *
 * An included row isn't resolved, so TypeGraphQL's middleware doesn't run for it. Null is a value, undefined is none.
 */
export function ToOne(): MethodDecorator {
  return Extensions({ toOne: true });
}

export function isToOne(field: GraphQLField<unknown, unknown>): boolean {
  return field.extensions['toOne'] === true;
}

/**
 * The relations that the operation selects on the rows that this field returns: directly, in a connection, or in a
 * payload.
 *
 * Computed once for each prepared operation, so that rows are read together with their relations.
 */
export function relationsOf<Relation extends string>(
  info: GraphQLResolveInfo,
  all: Include<Relation>,
): Include<Relation> {
  const selected = (info as PreparedInfo).relations();
  return all.filter((relation) => selected.includes(relation));
}

/** Marks a field that its resolver computes from its object alone, without loading anything: it is written at once. */
export function Computed(): MethodDecorator {
  return Extensions({ computed: true });
}

export function isComputed(field: GraphQLField<unknown, unknown>): boolean {
  return field.extensions['computed'] === true;
}

/** `info` as prepared operations pass it to resolvers. What is selected is computed once for each operation. */
export interface PreparedInfo extends GraphQLResolveInfo {
  /** The relations of the rows that the field returns. */
  readonly relations: () => readonly string[];
  /** The names of the fields that are selected on the object that the field returns. */
  readonly selected: () => readonly string[];
}
