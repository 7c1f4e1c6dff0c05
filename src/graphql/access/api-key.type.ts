import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';

import type { ApiKeyChange, KeyAction } from '../../domain/access/api-key-change.entity.ts';
import type { ListedKey } from '../../domain/access/api-key.store.ts';
import type { WindowUsage } from '../../domain/access/key-status.ts';
import type { PlanName } from '../../domain/access/plan.ts';
import type { Scope } from '../../domain/access/scope.ts';
import { connectionType } from '../connections/connection.type.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';

export const PlanEnum = { FREE: 'free', PRO: 'pro', BUSINESS: 'business', ENTERPRISE: 'enterprise' } as const;
registerEnumType(PlanEnum, {
  name: 'Plan',
  description: 'How many requests a key has.',
  valuesConfig: {
    FREE: { description: '60 requests per minute and 1,000 per day.' },
    PRO: { description: '300 requests per minute and 10,000 per day.' },
    BUSINESS: { description: '1,000 requests per minute and 100,000 per day.' },
    ENTERPRISE: { description: 'As many as was agreed: each key has figures of its own.' },
  },
});

export const ScopeEnum = { READ: 'read', WRITE: 'write', ADMIN: 'admin' } as const;
registerEnumType(ScopeEnum, {
  name: 'Scope',
  description: 'What a key may do.',
  valuesConfig: {
    READ: { description: 'Queries.' },
    WRITE: { description: 'Mutations of the store, and queries.' },
    ADMIN: { description: 'Everything, API keys included.' },
  },
});

export const ApiKeyStatusEnum = { ACTIVE: 'active', BANNED: 'banned', EXPIRED: 'expired', REVOKED: 'revoked' } as const;
registerEnumType(ApiKeyStatusEnum, {
  name: 'ApiKeyStatus',
  description: 'What a key is good for now.',
  valuesConfig: {
    ACTIVE: { description: 'Its requests are answered.' },
    BANNED: { description: 'Its requests are refused until the end of its ban.' },
    EXPIRED: { description: 'It has ended by itself; a later expiry makes it good again.' },
    REVOKED: { description: 'It was ended for ever.' },
  },
});

const ApiKeyActionEnum = {
  CREATED: 'created',
  UPDATED: 'updated',
  ROTATED: 'rotated',
  PLAN_CHANGED: 'plan_changed',
  BANNED: 'banned',
  UNBANNED: 'unbanned',
  REVOKED: 'revoked',
  DELETED: 'deleted',
} as const;
registerEnumType(ApiKeyActionEnum, {
  name: 'ApiKeyAction',
  description: 'What was done to a key.',
  valuesConfig: {
    CREATED: { description: 'It was made.' },
    UPDATED: { description: 'Its name, scopes or expiry were changed.' },
    ROTATED: { description: 'It got a new secret.' },
    PLAN_CHANGED: { description: 'It got another plan, or other figures.' },
    BANNED: { description: 'It was banned, by somebody or because it went on after its quota was spent.' },
    UNBANNED: { description: 'Its ban was ended, and earlier ones forgotten.' },
    REVOKED: { description: 'It was ended for ever.' },
    DELETED: { description: 'It was deleted from the database.' },
  },
});

@ObjectType('ApiKeyWindow', { description: 'What a key has spent of one of its windows.', simpleResolvers: true })
class ApiKeyWindowType implements WindowUsage {
  @Field(() => Int, { description: 'How many requests it has spent.' })
  spent!: number;

  @Field(() => Int, { description: 'How many requests the window has.' })
  limit!: number;

  @Field(() => DateTimeScalar, {
    description: 'When the window closes; for one that is not open, when it would if it opened now.',
  })
  resetAt!: Date;
}

@ObjectType('ApiKeyUsage', {
  description: 'What a key has spent: what this process has counted, and what others counted half a second ago.',
  simpleResolvers: true,
})
export class ApiKeyUsageType {
  @Field(() => ApiKeyWindowType, { description: 'The window of 60 seconds.' })
  minute!: WindowUsage;

  @Field(() => ApiKeyWindowType, { description: 'The window of 24 hours.' })
  day!: WindowUsage;
}

@ObjectType('ApiKeyChange', { description: 'An entry in the history of a key.', simpleResolvers: true })
export class ApiKeyChangeType {
  @Field(() => DateTimeScalar, { description: 'When it was changed.' })
  at!: Date;

  @Field(() => String, {
    description:
      'Who changed it: the id of a key, `ADMIN_API_KEY`, `cli`, `service` for an automatic ban, or `sql` for a change past the program.',
  })
  by!: string;

  @Field(() => ApiKeyActionEnum, { description: 'What was done.' })
  action!: KeyAction;
}

export const ApiKeyChangeConnectionType = connectionType<ApiKeyChange>('ApiKeyChange', () => ApiKeyChangeType);

/** Its figures, status, use and history are in the resolver. */
@ObjectType('ApiKey', {
  description: 'A key for this API. The key itself is kept nowhere and can be seen only when it is created.',
  simpleResolvers: true,
})
export class ApiKeyType implements Omit<ListedKey, 'requestsPerMinute' | 'requestsPerDay' | 'usage'> {
  @Field(() => ID, { description: 'Assigned on creation: an int64. It is no secret.' })
  id!: ListedKey['id'];

  @Field(() => String, { description: 'What the key is called, for its owner and for the log.' })
  name!: string;

  @Field(() => String, { description: 'How the key begins, so that its owner can tell which one it is.' })
  prefix!: string;

  @Field(() => PlanEnum, { description: 'How many requests it has.' })
  plan!: PlanName;

  @Field(() => [ScopeEnum], { description: 'What it may do. WRITE includes READ, ADMIN includes all.' })
  scopes!: Scope[];

  @Field(() => DateTimeScalar, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ends by itself; null when it never does.' })
  expiresAt!: Date | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'The end of its latest ban, in the past when that is over; null when there was none or it was lifted.',
  })
  bannedUntil!: Date | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was ended for ever; null while it is not.' })
  revokedAt!: Date | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      'Until when the secret before the latest rotation is good, in the past when it has ended; null when there is none.',
  })
  previousSecretExpiresAt!: Date | null;
}

export const ApiKeyConnectionType = connectionType<ListedKey>('ApiKey', () => ApiKeyType);
