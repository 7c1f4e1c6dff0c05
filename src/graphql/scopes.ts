import { defaultFieldResolver, type GraphQLObjectType, type GraphQLSchema } from 'graphql';

import { requireScope } from '../domain/access/principal.ts';
import type { Scope } from '../domain/access/scope.ts';
import type { GraphQLContext } from './context.ts';

/**
 * Makes queries need the scope `read` and mutations `write`, whatever fields there are or will be.
 *
 * A field that needs more asks for it itself; `rateLimit` is for everybody who has a key.
 */
export function guardRootFields(schema: GraphQLSchema): void {
  guard(schema.getQueryType(), 'read');
  guard(schema.getMutationType(), 'write');
}

function guard(type: GraphQLObjectType | null | undefined, scope: Scope): void {
  for (const field of Object.values(type?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    if (field.name === 'rateLimit') continue;
    field.resolve = (source, args, context: GraphQLContext, info): unknown => {
      requireScope(context.principal, scope);
      return resolve(source, args, context, info);
    };
  }
}
