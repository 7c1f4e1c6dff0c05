import { defaultFieldResolver, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';

import { requireScope } from '../domain/access/principal.ts';
import type { Scope } from '../domain/access/scope.ts';
import type { GraphQLContext } from './context.ts';

/** Makes a root field need another scope than its neighbours. */
export function NeedsScope(scope: Scope): MethodDecorator {
  return Extensions({ scope });
}

/**
 * Makes queries need the scope `read` and mutations `write`, whatever fields there are or will be, unless they say `NeedsScope`.
 *
 * `rateLimit` and `viewer` are for everybody who has a key.
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
