import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';

import type { ListedKey } from '../../domain/access/api-key.store.ts';
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

/** Its requests per minute and per day are in the resolver. */
@ObjectType('ApiKey', {
  description: 'A key for this API. The key itself is kept nowhere and can be seen only when it is created.',
  simpleResolvers: true,
})
export class ApiKeyType implements Omit<ListedKey, 'requestsPerMinute' | 'requestsPerDay'> {
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
