import 'reflect-metadata';

import type { GraphQLField } from 'graphql';
import { Extensions } from 'type-graphql';

import type { FieldExtensions } from '../platform/executor/index.ts';

/**
 * Says that a field returns the one related row that its own row may include under the same name.
 *
 * An included row isn't resolved, so TypeGraphQL's middleware doesn't run for it. Null is a value, undefined is none.
 */
export function ToOne(): MethodDecorator {
  return (target, name, descriptor) =>
    Extensions({ toOne: String(name) } satisfies FieldExtensions)(target, name, descriptor);
}

/** Says that a method with the context loads nothing and returns at once, as those without do (`direct-resolvers.ts`). */
export function Computed(): MethodDecorator {
  return Extensions({ computed: true } satisfies FieldExtensions);
}

/** Says that a field costs 1 of the quota where what is around it is free. */
export function Charged(): MethodDecorator {
  return Extensions({ charged: true });
}

export function isCharged({ extensions }: GraphQLField<unknown, unknown>): boolean {
  return extensions['charged'] === true;
}
