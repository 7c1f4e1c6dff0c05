import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';

import { requireScopes, type Scope } from '../domain/access/scope.ts';
import type { GraphQLContext } from './context.ts';

/** Says which scopes a root field needs: each of them. Without one, any valid key may use it. */
export function NeedsScope(...scopes: readonly Scope[]): MethodDecorator {
  return Extensions({ scopes });
}

type RootField = Pick<GraphQLField<unknown, unknown>, 'name' | 'extensions'>;

/** Throws for a root field without `@NeedsScope`. */
export function scopesOf({ name, extensions }: RootField): readonly Scope[] {
  const { scopes } = extensions as { readonly scopes?: readonly Scope[] };
  if (scopes === undefined) throw new TypeError(`${name} needs @NeedsScope.`);
  return scopes;
}

/** Every root field requires its scopes, before an Idempotency-Key is looked at: a replay needs them, too. */
export function guardRootFields(schema: GraphQLSchema): void {
  for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const { resolve = defaultFieldResolver } = field;
      const scopes = scopesOf(field);
      // That of a subscription is called for each event; `streams/` requires its scopes.
      if (scopes.length === 0 || type === schema.getSubscriptionType()) continue;
      field.resolve = (source, args, context: GraphQLContext, info): unknown => {
        requireScopes(context.principal, scopes);
        return resolve(source, args, context, info);
      };
    }
  }
}
