import { Field, Int, ObjectType } from 'type-graphql';

import type { KeyRequest, Protocol, QuotaWindow } from '../../domain/requests/key-request.entity.ts';
import type { UsagePeriod } from '../../domain/requests/request.service.ts';
import type { DeprecatedUses } from '../../domain/requests/request.store.ts';
import type { Edge, PageInfo } from '../connections/connection.ts';
import { PageInfoType } from '../connections/connection.type.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { registerEnum } from '../enum.ts';

const ProtocolEnum = registerEnum<Protocol>('Protocol', 'How a request was sent.', {
  graphql: 'To `/graphql`.',
  rest: 'To the REST API.',
});

const QuotaWindowEnum = registerEnum<QuotaWindow>('QuotaWindow', 'A window of the quota.', {
  minute: 'That of 60 seconds.',
  day: 'That of 24 hours.',
});

/** The address and the `User-Agent` are in the resolver. */
@ObjectType('KeyRequest', {
  description: 'A request that was sent with a key. Neither its body nor its variables are kept.',
})
export class KeyRequestType implements Omit<KeyRequest, 'id' | 'keyId' | 'quotaLimit' | 'address' | 'userAgent'> {
  @Field(() => String, { description: 'Its `X-Request-Id`.' })
  requestId!: string;

  @Field(() => DateTimeScalar, { description: 'When its response had been sent.' })
  at!: Date;

  @Field(() => ProtocolEnum, { description: 'How it was sent.' })
  protocol!: Protocol;

  @Field(() => String, {
    description: "REST's operation id; in GraphQL the name of the operation, or else its root fields.",
  })
  operation!: string;

  @Field(() => Int, { description: "The status; in GraphQL the highest `extensions.status` of its errors, or HTTP's." })
  status!: number;

  @Field(() => String, { nullable: true, description: 'The code of its error, in the spelling of its protocol.' })
  code!: string | null;

  @Field(() => QuotaWindowEnum, { nullable: true, description: 'The window of the quota that refused it.' })
  refusedBy!: QuotaWindow | null;

  @Field(() => Int, { nullable: true, description: 'The `Retry-After` of the quota, or of the ban, that refused it.' })
  retryAfter!: number | null;

  @Field(() => Int, { description: 'What it took from the quota.' })
  cost!: number;

  @Field(() => Int, { description: 'How long it took.' })
  durationMillis!: number;

  @Field(() => Boolean, { description: 'Whether it had an `Idempotency-Key`.' })
  hasIdempotencyKey!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'The `graphql-client-name`, or `apollographql-client-name`, that it had.',
  })
  clientName!: string | null;

  @Field(() => String, { nullable: true, description: 'The version of that client.' })
  clientVersion!: string | null;
}

@ObjectType('KeyRequestEdge', { description: 'An edge of a list of requests.' })
class KeyRequestEdgeType implements Edge<KeyRequest> {
  @Field(() => KeyRequestType, { description: 'The request.' })
  node!: KeyRequest;

  @Field(() => String, { description: 'Its position, for `after`.' })
  cursor!: string;
}

@ObjectType('KeyRequestConnection', {
  description: 'A page of the requests of a key, latest first.',
})
export class KeyRequestConnectionType {
  @Field(() => [KeyRequestEdgeType], { description: 'The requests of the page.' })
  edges!: readonly Edge<KeyRequest>[];

  @Field(() => [KeyRequestType], { description: 'The requests of `edges` without their cursors.' })
  nodes!: readonly KeyRequest[];

  @Field(() => PageInfoType, { description: 'Whether there are more pages, and the cursors to request them with.' })
  pageInfo!: PageInfo;

  /** The loader counts the requests without an entry. */
  @Field(() => Int, {
    name: 'omitted',
    simple: false,
    description: 'How many requests, in the hours of the filter or the last 7 days, have no entry.',
  })
  totalCount!: Promise<number>;
}

@ObjectType('UsagePeriod', { description: 'What a key has used in one hour or day, UTC.' })
export class UsagePeriodType implements UsagePeriod {
  @Field(() => DateTimeScalar, { description: 'When it begins.' })
  startsAt!: Date;

  @Field(() => Int, { description: 'The requests, refused ones included.' })
  requests!: number;

  @Field(() => Int, { description: 'What they took from the quota.' })
  cost!: number;

  @Field(() => Int, { description: 'Those that the quota refused.' })
  refusedByQuota!: number;

  @Field(() => Int, { description: 'Those that a ban refused.' })
  refusedByBan!: number;

  @Field(() => Int, { description: 'Those with another status from 400.' })
  clientErrors!: number;

  @Field(() => Int, { description: 'Those with a status from 500.' })
  serverErrors!: number;

  @Field(() => Int, { description: 'Mutations, and REST requests that change something.' })
  writes!: number;

  @Field(() => Int, { description: 'Uses of what is deprecated.' })
  deprecatedUses!: number;

  @Field(() => Int, { description: 'The requests of which there is no entry in `requests`.' })
  omitted!: number;
}

@ObjectType('DeprecatedUse', { description: 'How often a key has used something deprecated.' })
export class DeprecatedUseType implements Omit<DeprecatedUses, 'keyId'> {
  @Field(() => String, { description: 'What: `Pet.inventory` of the schema, or `GET /pets/{petId}` of REST.' })
  coordinate!: string;

  @Field(() => DateTimeScalar, { description: 'When it goes away.' })
  sunset!: Date;

  @Field(() => Int, { description: 'How often it was used in the last 90 days.' })
  count!: number;

  @Field(() => DateTimeScalar, { description: 'When it was last used.' })
  lastUsedAt!: Date;
}

/** The key is in the resolver. */
@ObjectType('DeprecatedUser', { description: 'A key that uses something deprecated.' })
export class DeprecatedUserType implements Pick<DeprecatedUses, 'count' | 'lastUsedAt'> {
  @Field(() => Int, { description: 'How often it has used it in the last 90 days.' })
  count!: number;

  @Field(() => DateTimeScalar, { description: 'When it has last used it.' })
  lastUsedAt!: Date;
}

@ObjectType('DeprecatedUserEdge', { description: 'An edge of a list of keys.' })
class DeprecatedUserEdgeType implements Edge<DeprecatedUses> {
  @Field(() => DeprecatedUserType, { description: 'The key, and how it uses it.' })
  node!: DeprecatedUses;

  @Field(() => String, { description: 'Its position, for `after`.' })
  cursor!: string;
}

@ObjectType('DeprecatedUserConnection', {
  description: 'A page of the keys that use something deprecated, the latest first.',
})
export class DeprecatedUserConnectionType {
  @Field(() => [DeprecatedUserEdgeType], { description: 'The keys of the page.' })
  edges!: readonly Edge<DeprecatedUses>[];

  @Field(() => [DeprecatedUserType], { description: 'The keys of `edges` without their cursors.' })
  nodes!: readonly DeprecatedUses[];

  @Field(() => PageInfoType, { description: 'Whether there are more pages, and the cursors to request them with.' })
  pageInfo!: PageInfo;
}
