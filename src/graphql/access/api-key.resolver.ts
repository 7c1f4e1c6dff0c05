import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  FieldResolver,
  ID,
  Info,
  Int,
  Mutation,
  Query,
  Resolver,
  Root,
  type ClassType,
} from 'type-graphql';

import type {
  AccessService,
  ApiKeyListRequest,
  CreatedKey,
  HistoryRequest,
} from '../../domain/access/access.service.ts';
import { type ApiKeyChange, describeChanges } from '../../domain/access/api-key-change.entity.ts';
import type { KeyStatus, ListedKey } from '../../domain/access/api-key.store.ts';
import { lastUsedAt, type KeyUsage } from '../../domain/access/key-status.ts';
import { limitsOf } from '../../domain/access/plan.ts';
import { nameInHistory } from '../../domain/access/principal.ts';
import type { Services } from '../../domain/services.ts';
import { PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import type { ChildList } from '../loaders.ts';
import { NeedsScope } from '../scopes.ts';
import {
  ApiKeyConnectionArgs,
  ApiKeyHistoryArgs,
  BanApiKeyInput,
  CreateApiKeyInput,
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
  keyPayload,
} from './api-key.type.ts';

@Resolver(() => ApiKeyChangeType)
class ApiKeyChangeResolver {
  @FieldResolver(() => [String], { description: 'The changed properties: `plan: free → pro`. Never a secret.' })
  changes(@Root() change: ApiKeyChange): string[] {
    return describeChanges(change);
  }
}

/** Manages keys, for administrators. A change takes effect in every process within a second. */
@Resolver(() => ApiKeyType)
class ApiKeyResolver {
  @NeedsScope('admin')
  @Query(() => ApiKeyConnectionType, {
    nullable: true,
    description: 'All keys, including revoked and expired ones, page by page. Needs the scope ADMIN.',
  })
  async apiKeys(
    @Args(() => ApiKeyConnectionArgs) request: ApiKeyListRequest,
    @Ctx() { services: { access } }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<ListedKey>> {
    return new PageConnection(await access.list(requestFor(request, info)), () => access.count(request.filter));
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
  async history(
    @Root() { id }: ListedKey,
    @Args(() => ApiKeyHistoryArgs) request: HistoryRequest,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<object> | null> {
    const changes = loaders.childrenOf('ApiKey.history', historyIn);
    const page = await changes.page({ request: requestFor(request, info), include: [] }).load(id);
    return page && new PageConnection(page, () => changes.count(undefined).load(id));
  }

  @FieldResolver(() => Int, { description: 'The effective limit: that of its plan, or its own.' })
  requestsPerMinute(@Root() key: ListedKey): number {
    return limitsOf(key).requestsPerMinute;
  }

  @FieldResolver(() => Int, { description: 'The effective limit: that of its plan, or its own.' })
  requestsPerDay(@Root() key: ListedKey): number {
    return limitsOf(key).requestsPerDay;
  }
}

interface KeyMutation<Input extends object> {
  readonly name: string;
  readonly description: string;
  readonly input: ClassType<Input>;
  readonly inputDescription: string;
  /** Its payload has the new secret beside the key. */
  readonly givesSecret?: boolean;
  readonly carryOut: (access: AccessService, input: Input) => Promise<Pick<CreatedKey, 'apiKey'>>;
}

/** A mutation of one key. The history attributes it to the key that sends the request. */
function keyMutation<Input extends object>(mutation: KeyMutation<Input>): ClassType {
  const { name, description, input: inputType, inputDescription, givesSecret = false, carryOut } = mutation;
  const Payload = keyPayload(name, givesSecret);

  @Resolver()
  class KeyMutationResolver {
    @NeedsScope('admin')
    @Mutation(() => Payload, { name, nullable: true, description: `${description} Needs the scope ADMIN.` })
    mutate(
      @Arg('input', () => inputType, { description: inputDescription }) input: Input,
      @Ctx() { services, principal }: GraphQLContext,
    ): Promise<object> {
      return carryOut(services.access.actingAs(nameInHistory(principal)), input);
    }
  }

  return KeyMutationResolver;
}

const keyMutations = [
  keyMutation({
    name: 'createApiKey',
    description: 'Creates a key.',
    input: CreateApiKeyInput,
    inputDescription: 'The new key.',
    givesSecret: true,
    carryOut: (access, input) => access.create(input),
  }),
  keyMutation({
    name: 'updateApiKey',
    description: 'Changes the name, the scopes or the expiry of a key. NOT_FOUND when there is none.',
    input: UpdateApiKeyInput,
    inputDescription: 'Which key, and what to change.',
    carryOut: async (access, { id, ...changes }) => ({ apiKey: await access.update(id, changes) }),
  }),
  keyMutation({
    name: 'rotateApiKey',
    description:
      'Gives a key a new secret; the old one stays valid for the overlap, and any older one expires at once. CONFLICT for a revoked or expired key.',
    input: RotateApiKeyInput,
    inputDescription: 'Which key, and how long both secrets are valid.',
    givesSecret: true,
    carryOut: (access, { id, overlapSeconds }) => access.rotate(id, overlapSeconds),
  }),
  keyMutation({
    name: 'revokeApiKey',
    description: 'Revokes a key permanently. NOT_FOUND when there is none with this id.',
    input: RevokeApiKeyInput,
    inputDescription: 'Which key.',
    carryOut: async (access, { id }) => ({ apiKey: await access.revoke(id) }),
  }),
  keyMutation({
    name: 'banApiKey',
    description: 'Bans a key for a while. NOT_FOUND when there is none with this id.',
    input: BanApiKeyInput,
    inputDescription: 'Which key, and for how long.',
    carryOut: async (access, { id, seconds }) => ({ apiKey: await access.ban(id, seconds) }),
  }),
  keyMutation({
    name: 'unbanApiKey',
    description: "Ends a key's ban, and resets earlier bans and refusals.",
    input: UnbanApiKeyInput,
    inputDescription: 'Which key.',
    carryOut: async (access, { id }) => ({ apiKey: await access.unban(id) }),
  }),
  keyMutation({
    name: 'setApiKeyPlan',
    description: 'Changes the plan of a key; its usage stays.',
    input: SetApiKeyPlanInput,
    inputDescription: 'Which key, and the plan.',
    carryOut: async (access, { id, ...plan }) => ({ apiKey: await access.setPlan(id, plan) }),
  }),
];

export const apiKeyResolvers = [ApiKeyChangeResolver, ApiKeyResolver, ...keyMutations];

function historyIn({ access }: Services): ChildList {
  return {
    listPerParent: (keyIds, request) => access.listHistory(keyIds, request),
    countPerParent: (keyIds) => access.countHistory(keyIds),
  };
}
