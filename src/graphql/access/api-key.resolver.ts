import { Arg, Args, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { limitsOf } from '../../domain/access/plan.ts';
import type { PageArguments } from '../../domain/page.ts';
import { PageArgs } from '../connections/connection.args.ts';
import { connectionOf, type Connection } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { NeedsScope } from '../scopes.ts';
import {
  BanApiKeyInput,
  CreateApiKeyInput,
  RevokeApiKeyInput,
  SetApiKeyPlanInput,
  UnbanApiKeyInput,
} from './api-key.input.ts';
import {
  BanApiKeyPayload,
  CreateApiKeyPayload,
  RevokeApiKeyPayload,
  SetApiKeyPlanPayload,
  UnbanApiKeyPayload,
  type ChangedApiKey,
} from './api-key.payload.ts';
import { ApiKeyConnectionType, ApiKeyType } from './api-key.type.ts';

/** What an administrator may do with keys. Whatever it changes holds in every process within a second. */
@Resolver(() => ApiKeyType)
export class ApiKeyResolver {
  @NeedsScope('admin')
  @Query(() => ApiKeyConnectionType, {
    nullable: true,
    description: 'All keys, those revoked and expired too, page by page. Needs the scope ADMIN.',
  })
  async apiKeys(
    @Args(() => PageArgs) page: PageArguments,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<Connection<ListedKey>> {
    return connectionOf(await access.list(page), () => access.count());
  }

  @FieldResolver(() => Int, { description: 'The figure that holds for it, its own or that of its plan.' })
  requestsPerMinute(@Root() key: ListedKey): number {
    return limitsOf(key).requestsPerMinute;
  }

  @FieldResolver(() => Int, { description: 'The figure that holds for it, its own or that of its plan.' })
  requestsPerDay(@Root() key: ListedKey): number {
    return limitsOf(key).requestsPerDay;
  }

  @NeedsScope('admin')
  @Mutation(() => CreateApiKeyPayload, { nullable: true, description: 'Makes a key. Needs the scope ADMIN.' })
  createApiKey(
    @Arg('input', () => CreateApiKeyInput, { description: 'The new key.' }) input: CreateApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<CreateApiKeyPayload> {
    return access.create(input);
  }

  @NeedsScope('admin')
  @Mutation(() => RevokeApiKeyPayload, {
    nullable: true,
    description: 'Ends a key for ever. NOT_FOUND when there is none with this id. Needs the scope ADMIN.',
  })
  async revokeApiKey(
    @Arg('input', () => RevokeApiKeyInput, { description: 'Which key.' }) { id }: RevokeApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<ChangedApiKey> {
    return { apiKey: await access.revoke(id) };
  }

  @NeedsScope('admin')
  @Mutation(() => BanApiKeyPayload, {
    nullable: true,
    description: 'Refuses a key for a while. NOT_FOUND when there is none with this id. Needs the scope ADMIN.',
  })
  async banApiKey(
    @Arg('input', () => BanApiKeyInput, { description: 'Which key, and for how long.' })
    { id, seconds }: BanApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<ChangedApiKey> {
    return { apiKey: await access.ban(id, seconds) };
  }

  @NeedsScope('admin')
  @Mutation(() => UnbanApiKeyPayload, {
    nullable: true,
    description: "Ends a key's ban, and forgets earlier bans and refusals. Needs the scope ADMIN.",
  })
  async unbanApiKey(
    @Arg('input', () => UnbanApiKeyInput, { description: 'Which key.' }) { id }: UnbanApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<ChangedApiKey> {
    return { apiKey: await access.unban(id) };
  }

  @NeedsScope('admin')
  @Mutation(() => SetApiKeyPlanPayload, {
    nullable: true,
    description: 'Gives a key another plan; what it has spent stays spent. Needs the scope ADMIN.',
  })
  async setApiKeyPlan(
    @Arg('input', () => SetApiKeyPlanInput, { description: 'Which key, and the plan.' })
    { id, ...plan }: SetApiKeyPlanInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<ChangedApiKey> {
    return { apiKey: await access.setPlan(id, plan) };
  }
}
