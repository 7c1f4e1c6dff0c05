import { Ctx, Query, Resolver } from 'type-graphql';

import { knownScopes } from '../../domain/access/scope.ts';
import { parseId, type Id } from '../../domain/id.ts';
import { tightest, type WindowFigures } from '../../platform/quotas/index.ts';
import type { GraphQLContext } from '../context.ts';
import { NeedsScope } from '../scopes.ts';
import { RateLimitType, ViewerType } from './viewer.type.ts';

/** The id of ADMIN_API_KEY, which has no rows: those of keys begin at 1. */
const noKey = '0' as Id;

/** The key of the request, and what is left of its quota. */
@Resolver()
export class ViewerResolver {
  @NeedsScope()
  @Query(() => ViewerType, {
    nullable: true,
    description:
      'The key that sends the request. Free when nothing else is selected, as often per minute as the plan has requests per minute.',
  })
  async viewer(@Ctx() { request, principal }: GraphQLContext): Promise<ViewerType> {
    const { decision } = await request.meter.spend();
    const { id, name, plan, expiresAt } = principal;
    return {
      id: parseId(id) ?? noKey,
      name,
      plan,
      scopes: knownScopes(principal),
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
      minute: windowOf(decision.minute),
      day: windowOf(decision.day),
    };
  }

  @NeedsScope()
  @Query(() => RateLimitType, {
    nullable: true,
    description: 'The remaining quota of the key. Free when nothing else is selected.',
  })
  async rateLimit(@Ctx() { request }: GraphQLContext): Promise<RateLimitType> {
    const { cost, decision } = await request.meter.spend();
    return { cost, ...windowOf(tightest(decision.minute, decision.day)) };
  }
}

function windowOf({ limit, remaining, resetsAt }: WindowFigures) {
  return { limit, remaining, resetAt: new Date(resetsAt) };
}
