import { Ctx, Query, Resolver } from 'type-graphql';

import type { WindowFigures } from '../../platform/quotas/index.ts';
import type { GraphQLContext } from '../context.ts';
import { ViewerType, type ViewerWindowType } from './viewer.type.ts';

@Resolver()
export class ViewerResolver {
  @Query(() => ViewerType, {
    nullable: true,
    description:
      'The key that sends the request. Free when nothing else is selected, as often per minute as the plan has requests per minute.',
  })
  async viewer(@Ctx() { meter, principal }: GraphQLContext): Promise<ViewerType> {
    const { decision } = await meter.spend();
    const { name, plan, scopes, expiresAt } = principal;
    return {
      name,
      plan,
      scopes,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
      minute: windowOf(decision.minute),
      day: windowOf(decision.day),
    };
  }
}

function windowOf({ limit, remaining, resetsAt }: WindowFigures): ViewerWindowType {
  return { limit, remaining, resetAt: new Date(resetsAt) };
}
