import 'reflect-metadata';

import { Extensions } from 'type-graphql';

import type { FieldMarks } from '../platform/executor/index.ts';

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
