import 'reflect-metadata';

import type { GraphQLResolveInfo } from 'graphql';
import { Extensions } from 'type-graphql';

import type { Include } from '../domain/store.ts';
import type { FieldMarks, PreparedInfo } from '../platform/executor/index.ts';

const mark = (marks: FieldMarks): MethodDecorator & PropertyDecorator => Extensions({ ...marks });

/**
 * Marks a field that returns the one related row, which may be included in its own row under the field's name.
 *
 * An included row isn't resolved, so TypeGraphQL's middleware doesn't run for it. Null is a value, undefined is none.
 */
export function ToOne(): MethodDecorator {
  return mark({ toOne: true });
}

/** Marks a field that its resolver computes from its object alone, without loading anything. */
export function Computed(): MethodDecorator {
  return mark({ computed: true });
}

/** Marks a property that is a promise. */
export function Promised(): PropertyDecorator {
  return mark({ promised: true });
}

/**
 * The relations that the operation selects on the rows that this field returns: directly, in a connection, or in a
 * payload.
 *
 * Computed once for each prepared operation, so that rows are read together with their relations.
 */
export function relationsOf<Relation extends string>(info: GraphQLResolveInfo): Include<Relation> {
  return (info as PreparedInfo).relations() as Include<Relation>;
}
