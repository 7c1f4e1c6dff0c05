import { Ctx, Query, Resolver } from 'type-graphql';

import { tightest } from '../../platform/quotas/index.ts';
import type { GraphQLContext } from '../context.ts';
import { RateLimitType } from './rate-limit.type.ts';

@Resolver()
export class RateLimitResolver {
  @Query(() => RateLimitType, {
    nullable: true,
    description: 'The remaining quota of the key. Free when nothing else is selected.',
  })
  async rateLimit(@Ctx() { meter }: GraphQLContext): Promise<RateLimitType> {
    const { cost, decision } = await meter.spend();
    const { limit, remaining, resetsAt } = tightest(decision.minute, decision.day);
    return { cost, limit, remaining, resetAt: new Date(resetsAt) };
  }
}
