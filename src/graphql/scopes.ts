import { defaultFieldResolver, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';

import { requireScope } from '../domain/access/principal.ts';
import type { Scope } from '../domain/access/scope.ts';
import type { GraphQLContext } from './context.ts';

/** Sets the scope of a root field that differs from the default. */
export function NeedsScope(scope: Scope): MethodDecorator {
  return Extensions({ scope });
}

/**
 * Requires the scope `read` for every query and `write` for every mutation, unless it has `NeedsScope`.
 *
 * `rateLimit` and `viewer` need only a valid key.
 */
export function guardRootFields(schema: GraphQLSchema): void {
  guard(schema.getQueryType(), 'read');
  guard(schema.getMutationType(), 'write');
}

function guard(type: GraphQLObjectType | null | undefined, usualScope: Scope): void {
  for (const field of Object.values(type?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    if (field.name === 'rateLimit' || field.name === 'viewer') continue;
    const { scope = usualScope } = field.extensions as { readonly scope?: Scope };
    field.resolve = (source, args, context: GraphQLContext, info): unknown => {
      requireScope(context.principal, scope);
      return resolve(source, args, context, info);
    };
  }
}
