import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Int, Mutation, Query, Resolver, Root } from 'type-graphql';

import { type ApiKeyChange, describeChanges } from '../../domain/access/api-key-change.entity.ts';
import type { KeyStatus, ListedKey } from '../../domain/access/api-key.store.ts';
import { lastUsedAt, type KeyUsage } from '../../domain/access/key-status.ts';
import { limitsOf } from '../../domain/access/plan.ts';
import { knownScopes, type Scope } from '../../domain/access/scope.ts';
import { ForwardPageArgs } from '../connections/connection.args.ts';
import { childConnection, PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { NeedsScope } from '../scopes.ts';
import {
  ApiKeyConnectionArgs,
  BanApiKeyInput,
  CreateApiKeyInput,
  ForgetApiKeyInput,
  RevokeApiKeyInput,
  RotateApiKeyInput,
  SetApiKeyPlanInput,
  UnbanApiKeyInput,
  UpdateApiKeyInput,
} from './api-key.input.ts';
import {
  ApiKeyChangeConnectionType,
  ApiKeyChangeType,
  ApiKeyConnectionType,
  ApiKeyStatusEnum,
  ApiKeyType,
  ApiKeyUsageType,
  BanApiKeyPayload,
  CreateApiKeyPayload,
  ForgetApiKeyPayload,
  RevokeApiKeyPayload,
  RotateApiKeyPayload,
  ScopeEnum,
  SetApiKeyPlanPayload,
  UnbanApiKeyPayload,
  UpdateApiKeyPayload,
} from './api-key.type.ts';

@Resolver(() => ApiKeyChangeType)
class ApiKeyChangeResolver {
  @FieldResolver(() => [String], { description: 'The changed properties: `plan: free → pro`. Never a secret.' })
  changes(@Root() change: ApiKeyChange): string[] {
    return describeChanges(change);
  }
}

/** The administration of keys. A change takes effect in every process within a second. */
@Resolver(() => ApiKeyType)
class ApiKeyResolver {
  @NeedsScope('admin')
  @Query(() => ApiKeyConnectionType, {
    nullable: true,
    description: 'All keys, including revoked and expired ones, page by page. Needs the scope ADMIN.',
  })
  async apiKeys(
    @Args(() => ApiKeyConnectionArgs) args: ApiKeyConnectionArgs,
    @Ctx() { services: { access } }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<ListedKey>> {
    return new PageConnection(await access.list(requestFor(args, info)), () => access.count(args.filter));
  }

  @NeedsScope('admin')
  @Query(() => ApiKeyType, {
    nullable: true,
    description: 'The key with this id; null when there is none. Needs the scope ADMIN.',
  })
  apiKey(
    @Arg('id', () => ID, { description: 'The id of a key, not the key itself.' }) id: string,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<ListedKey | null> {
    return access.find(id);
  }

  @FieldResolver(() => ApiKeyStatusEnum, { description: 'Whether it is valid now.' })
  status(@Root() key: ListedKey, @Ctx() { services: { access } }: GraphQLContext): KeyStatus {
    return access.statusOf(key);
  }

  @FieldResolver(() => [ScopeEnum], {
    description: 'What it may do. WRITE and WEBHOOKS include READ, ADMIN includes all.',
  })
  scopes(@Root() key: ListedKey): Scope[] {
    return knownScopes(key);
  }

  @FieldResolver(() => DateTimeScalar, {
    nullable: true,
    description: 'When it was last used; null if never.',
  })
  lastUsedAt(@Root() key: ListedKey): Date | null {
    return lastUsedAt(key);
  }

  @FieldResolver(() => ApiKeyUsageType, { description: 'The requests spent in both windows.' })
  usage(@Root() key: ListedKey, @Ctx() { services: { access } }: GraphQLContext): KeyUsage {
    return access.usageOf(key);
  }

  @FieldResolver(() => ApiKeyChangeConnectionType, {
    nullable: true,
    description: 'Its last 1,000 changes, latest first, page by page.',
  })
  history(
    @Root() key: ListedKey,
    @Args(() => ForwardPageArgs) args: ForwardPageArgs,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<ApiKeyChange> | null> {
    return childConnection(
      loaders.children('ApiKey.history', ({ access }) => access.history),
      key,
      args,
      info,
    );
  }

  @FieldResolver(() => Int, { description: 'The effective limit: that of its plan, or its own.' })
  requestsPerMinute(@Root() key: ListedKey): number {
    return limitsOf(key).requestsPerMinute;
  }

  @FieldResolver(() => Int, { description: 'The effective limit: that of its plan, or its own.' })
  requestsPerDay(@Root() key: ListedKey): number {
    return limitsOf(key).requestsPerDay;
  }

  @NeedsScope('admin')
  @Mutation(() => CreateApiKeyPayload, {
    nullable: true,
    description: 'Creates a key. Needs the scope ADMIN.',
  })
  createApiKey(
    @Arg('input', () => CreateApiKeyInput, { description: 'The new key.' }) input: CreateApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<CreateApiKeyPayload> {
    return access.create(input);
  }

  @NeedsScope('admin')
  @Mutation(() => UpdateApiKeyPayload, {
    nullable: true,
    description:
      'Changes the name, the scopes or the expiry of a key. NOT_FOUND when there is none. Needs the scope ADMIN.',
  })
  async updateApiKey(
    @Arg('input', () => UpdateApiKeyInput, { description: 'Which key, and what to change.' })
    { id, ...changes }: UpdateApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<UpdateApiKeyPayload> {
    return { apiKey: await access.update(id, changes) };
  }

  @NeedsScope('admin')
  @Mutation(() => RotateApiKeyPayload, {
    nullable: true,
    description:
      'Gives a key a new secret; the old one stays valid for the overlap, and any older one expires at once. CONFLICT for a revoked or expired key. Needs the scope ADMIN.',
  })
  rotateApiKey(
    @Arg('input', () => RotateApiKeyInput, { description: 'Which key, and how long both secrets are valid.' })
    { id, overlapSeconds }: RotateApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<RotateApiKeyPayload> {
    return access.rotate(id, overlapSeconds);
  }

  @NeedsScope('admin')
  @Mutation(() => RevokeApiKeyPayload, {
    nullable: true,
    description: 'Revokes a key permanently. NOT_FOUND when there is none with this id. Needs the scope ADMIN.',
  })
  async revokeApiKey(
    @Arg('input', () => RevokeApiKeyInput, { description: 'Which key.' }) { id }: RevokeApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<RevokeApiKeyPayload> {
    return { apiKey: await access.revoke(id) };
  }

  @NeedsScope('admin')
  @Mutation(() => ForgetApiKeyPayload, {
    nullable: true,
    description:
      'Replaces the name of a revoked key, in its history too, and what its holder has sent in the entries of its requests, by `forgotten`; counts stay. It cannot be undone. CONFLICT for a key that is not revoked. Needs the scope ADMIN.',
  })
  async forgetApiKey(
    @Arg('input', () => ForgetApiKeyInput, { description: 'Which key.' }) { id }: ForgetApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<ForgetApiKeyPayload> {
    return { apiKey: await access.forget(id) };
  }

  @NeedsScope('admin')
  @Mutation(() => BanApiKeyPayload, {
    nullable: true,
    description: 'Bans a key for a while. NOT_FOUND when there is none with this id. Needs the scope ADMIN.',
  })
  async banApiKey(
    @Arg('input', () => BanApiKeyInput, { description: 'Which key, and for how long.' })
    { id, seconds }: BanApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<BanApiKeyPayload> {
    return { apiKey: await access.ban(id, seconds) };
  }

  @NeedsScope('admin')
  @Mutation(() => UnbanApiKeyPayload, {
    nullable: true,
    description: "Ends a key's ban, and resets earlier bans and refusals. Needs the scope ADMIN.",
  })
  async unbanApiKey(
    @Arg('input', () => UnbanApiKeyInput, { description: 'Which key.' }) { id }: UnbanApiKeyInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<UnbanApiKeyPayload> {
    return { apiKey: await access.unban(id) };
  }

  @NeedsScope('admin')
  @Mutation(() => SetApiKeyPlanPayload, {
    nullable: true,
    description: 'Changes the plan of a key; its usage stays. Needs the scope ADMIN.',
  })
  async setApiKeyPlan(
    @Arg('input', () => SetApiKeyPlanInput, { description: 'Which key, and the plan.' })
    { id, ...plan }: SetApiKeyPlanInput,
    @Ctx() { services: { access } }: GraphQLContext,
  ): Promise<SetApiKeyPlanPayload> {
    return { apiKey: await access.setPlan(id, plan) };
  }
}

export const apiKeyResolvers = [ApiKeyChangeResolver, ApiKeyResolver] as const;
