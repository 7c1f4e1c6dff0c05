import type { GraphQLResolveInfo } from 'graphql';
import { Args, type ClassType, Ctx, FieldResolver, Info, Int, Query, Resolver, Root } from 'type-graphql';

import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { hasScope } from '../../domain/access/scope.ts';
import type { Id } from '../../domain/id.ts';
import type { KeyRequest } from '../../domain/requests/key-request.entity.ts';
import type { UsagePeriod } from '../../domain/requests/request.service.ts';
import type { DeprecatedUses } from '../../domain/requests/request.store.ts';
import type { Services } from '../../domain/services.ts';
import { ApiKeyType } from '../access/api-key.type.ts';
import { childConnection, PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { Charged } from '../field-extensions.ts';
import type { ChildList } from '../loaders.ts';
import { NeedsScope } from '../scopes.ts';
import { ViewerType } from '../viewer/viewer.type.ts';
import { DeprecatedUserConnectionArgs, KeyRequestConnectionArgs, UsageHistoryArgs } from './key-request.input.ts';
import {
  DeprecatedUserConnectionType,
  DeprecatedUserType,
  DeprecatedUseType,
  KeyRequestConnectionType,
  KeyRequestType,
  UsagePeriodType,
} from './key-request.type.ts';

/** A key, as its holder or an administrator sees it. */
interface Key {
  readonly id: Id;
}

/** What a key was used for: the fields that its holder and administrators have alike. */
function KeyRecordsResolver(typeName: string, type: () => ClassType) {
  @Resolver(type)
  class RecordsResolver {
    @Charged()
    @FieldResolver(() => KeyRequestConnectionType, {
      nullable: true,
      description:
        'Its newest requests, at most 1,000 of the last 7 days, latest first: each that was refused, that failed or that changed something, and of others one a second. At most 2 s old.',
    })
    requests(
      @Root() key: Key,
      @Args(() => KeyRequestConnectionArgs) args: KeyRequestConnectionArgs,
      @Ctx() { loaders }: GraphQLContext,
      @Info() info: GraphQLResolveInfo,
    ): Promise<PageConnection<KeyRequest> | null> {
      return childConnection(loaders.children(`${typeName}.requests`, requestsIn), key, args, info);
    }

    @Charged()
    @FieldResolver(() => [UsagePeriodType], {
      description:
        'How much it was used, by the hour or the day, oldest first; at most 400 periods, those without requests included. At most 2 s old.',
    })
    usageHistory(
      @Root() key: Key,
      @Args(() => UsageHistoryArgs) args: UsageHistoryArgs,
      @Ctx() { loaders }: GraphQLContext,
    ): Promise<UsagePeriod[]> {
      return loaders.ofEach(args, ({ requests }, keyIds) => requests.usagePerKey(keyIds, args)).load(key.id);
    }

    @Charged()
    @FieldResolver(() => [DeprecatedUseType], {
      description: 'What it has used of what is deprecated, in the last 90 days.',
    })
    deprecatedUse(@Root() key: Key, @Ctx() { loaders }: GraphQLContext): Promise<DeprecatedUses[]> {
      const field = `${typeName}.deprecatedUse`;
      return loaders.ofEach(field, ({ requests }, keyIds) => requests.deprecatedUsesPerKey(keyIds)).load(key.id);
    }
  }

  return RecordsResolver;
}

@Resolver(() => DeprecatedUserType)
class DeprecatedUserResolver {
  @NeedsScope('admin')
  @Query(() => DeprecatedUserConnectionType, {
    nullable: true,
    description: 'Which keys use something deprecated, the latest first, in the last 90 days. Needs the scope ADMIN.',
  })
  async deprecatedUse(
    @Args(() => DeprecatedUserConnectionArgs) { coordinate, ...page }: DeprecatedUserConnectionArgs,
    @Ctx() { services: { requests } }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<DeprecatedUses>> {
    return new PageConnection(await requests.listUsersOf(coordinate, requestFor(page, info)), () => Promise.resolve(0));
  }

  @FieldResolver(() => ApiKeyType, { nullable: true, description: 'The key; null when it was deleted.' })
  apiKey(@Root() { keyId }: DeprecatedUses, @Ctx() { loaders }: GraphQLContext): Promise<ListedKey | null> {
    return loaders.ofEach('DeprecatedUser.apiKey', ({ access }, ids) => access.findMany(ids)).load(keyId);
  }
}

@Resolver(() => KeyRequestType)
class KeyRequestResolver {
  @FieldResolver(() => Int, { nullable: true, description: 'The limit of the window that refused it.' })
  limit(@Root() { quotaLimit }: KeyRequest): number | null | undefined {
    return quotaLimit;
  }

  @FieldResolver(() => String, { nullable: true, description: "The client's address; null unless the key has ADMIN." })
  address(@Root() { address }: KeyRequest, @Ctx() { principal }: GraphQLContext): string | null {
    return hasScope(principal, 'admin') ? (address ?? null) : null;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The `User-Agent` of a client that does not tell its name; null unless the key has ADMIN.',
  })
  userAgent(@Root() { userAgent }: KeyRequest, @Ctx() { principal }: GraphQLContext): string | null {
    return hasScope(principal, 'admin') ? (userAgent ?? null) : null;
  }
}

export const keyRequestResolvers = [
  KeyRecordsResolver('Viewer', () => ViewerType),
  KeyRecordsResolver('ApiKey', () => ApiKeyType),
  KeyRequestResolver,
  DeprecatedUserResolver,
] as const;

/** The connection tells how many requests have no entry, instead of how many have one. */
function requestsIn({ requests }: Services): ChildList<KeyRequest> {
  return {
    listPerParent: (keyIds, request) => requests.entries.listPerParent(keyIds, request),
    countPerParent: (keyIds, filter) => requests.omittedPerKey(keyIds, filter),
  };
}
