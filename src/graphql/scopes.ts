import { defaultFieldResolver, type GraphQLField, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';

import type { Principal } from '../domain/access/principal.ts';
import { requireScope, type Scope } from '../domain/access/scope.ts';
import type { GraphQLContext } from './context.ts';

/** Sets the scope of a root field that differs from the default. */
export function NeedsScope(scope: Scope): MethodDecorator {
  return Extensions({ scope });
}

type RootField = Pick<GraphQLField<unknown, unknown>, 'extensions'>;

/** Requires the scope of every root field: `read` for a query and `write` for a mutation, unless it has `NeedsScope`. */
export function guardRootFields(schema: GraphQLSchema): void {
  guard(schema.getQueryType(), 'read');
  guard(schema.getMutationType(), 'write');
}

/** Throws FORBIDDEN when the key may not use this mutation. */
export function requireScopeOfMutation(field: RootField, principal: Principal): void {
  requireScope(principal, scopeOf(field, 'write'));
}

function guard(type: GraphQLObjectType | null | undefined, defaultScope: Scope): void {
  for (const field of Object.values(type?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    // Both need only a valid key.
    if (field.name === 'rateLimit' || field.name === 'viewer') continue;
    const scope = scopeOf(field, defaultScope);
    field.resolve = (source, args, context: GraphQLContext, info): unknown => {
      requireScope(context.principal, scope);
      return resolve(source, args, context, info);
    };
  }
}

function scopeOf({ extensions }: RootField, defaultScope: Scope): Scope {
  return (extensions as { readonly scope?: Scope }).scope ?? defaultScope;
}
