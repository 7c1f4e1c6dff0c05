import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { ApiKeyChange, KeyAction } from '../../domain/access/api-key-change.entity.ts';
import type { KeyStatus, ListedKey } from '../../domain/access/api-key.store.ts';
import type { WindowUsage } from '../../domain/access/key-status.ts';
import type { PlanName } from '../../domain/access/plan.ts';
import { scopeDescriptions } from '../../domain/access/scope.ts';
import { connectionType } from '../connections/connection.type.ts';
import { registerEnum } from '../enum.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';

export const PlanEnum = registerEnum<PlanName>('Plan', 'A plan with its limits.', {
  free: '60 requests per minute and 1,000 per day.',
  pro: '300 requests per minute and 10,000 per day.',
  business: '1,000 requests per minute and 100,000 per day.',
  enterprise: 'Individual limits for each key.',
});

export const ScopeEnum = registerEnum('Scope', 'What a key may do.', scopeDescriptions);

export const ApiKeyStatusEnum = registerEnum<KeyStatus>('ApiKeyStatus', 'Whether a key is valid now.', {
  active: 'It is valid.',
  banned: 'Its requests are refused until the end of its ban.',
  expired: 'It has expired; a later expiry makes it valid again.',
  revoked: 'It was revoked permanently.',
});

const ApiKeyActionEnum = registerEnum<KeyAction>('ApiKeyAction', 'What was done to a key.', {
  created: 'It was created.',
  updated: 'Its name, scopes or expiry were changed.',
  rotated: 'It got a new secret.',
  plan_changed: 'It got another plan or other limits.',
  banned: 'It was banned, by an administrator or automatically for sending requests after its quota was spent.',
  unbanned: 'Its ban was ended, and earlier bans reset.',
  revoked: 'It was revoked.',
  forgotten: 'Its name, and what its holder had sent, were replaced by `forgotten`.',
  deleted: 'It was deleted from the database.',
});

@ObjectType('ApiKeyWindow', { description: 'The usage of a key in one window.' })
class ApiKeyWindowType implements WindowUsage {
  @Field(() => Int, { description: 'The requests spent.' })
  spent!: number;

  @Field(() => Int, { description: 'The requests that the window allows.' })
  limit!: number;

  @Field(() => DateTimeScalar, {
    description: 'When the window closes; for one that is not open, when it would if it opened now.',
  })
  resetAt!: Date;
}

@ObjectType('ApiKeyUsage', {
  description: 'The usage of a key; that of other processes may be half a second old.',
})
export class ApiKeyUsageType {
  @Field(() => ApiKeyWindowType, { description: 'The window of 60 seconds.' })
  minute!: WindowUsage;

  @Field(() => ApiKeyWindowType, { description: 'The window of 24 hours.' })
  day!: WindowUsage;
}

@ObjectType('ApiKeyChange', { description: 'An entry in the history of a key.' })
export class ApiKeyChangeType {
  @Field(() => DateTimeScalar, { description: 'When it was changed.' })
  at!: Date;

  @Field(() => String, {
    description:
      'Who changed it: the id of a key, `ADMIN_API_KEY`, `cli`, `service` for an automatic ban, or `sql` for a change made directly in the database.',
  })
  by!: string;

  @Field(() => ApiKeyActionEnum, { description: 'What was done.' })
  action!: KeyAction;
}

export const ApiKeyChangeConnectionType = connectionType<ApiKeyChange>('ApiKeyChange', () => ApiKeyChangeType);

/** The scopes, the figures, the status, the usage and the history are in the resolver. */
@ObjectType('ApiKey', {
  description: 'A key for this API. Its secret is not stored and is shown only on creation and rotation.',
})
export class ApiKeyType implements Omit<ListedKey, 'scopes' | 'requestsPerMinute' | 'requestsPerDay' | 'usage'> {
  @Field(() => ID, { description: 'Assigned on creation: an int64. It is not secret.' })
  id!: ListedKey['id'];

  @Field(() => String, { description: 'A name for its owner and for the log.' })
  name!: string;

  @Field(() => String, { description: 'The beginning of the secret, to recognize it.' })
  prefix!: string;

  @Field(() => PlanEnum, { description: 'The plan, which sets its limits.' })
  plan!: PlanName;

  @Field(() => DateTimeScalar, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it expires; null if never.' })
  expiresAt!: Date | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'The end of its latest ban, which may be past; null without one, and after `unbanApiKey`.',
  })
  bannedUntil!: Date | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was revoked; null if it is not.' })
  revokedAt!: Date | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the secret before the latest rotation expires, which may be past; null when there is none.',
  })
  previousSecretExpiresAt!: Date | null;
}

export const ApiKeyConnectionType = connectionType<ListedKey>('ApiKey', () => ApiKeyType);

@ObjectType()
abstract class KeyPayload {
  @Field(() => ApiKeyType, { description: 'The key as it is now.' })
  apiKey!: ListedKey;
}

@ObjectType()
abstract class SecretPayload {
  @Field(() => ApiKeyType, { description: 'The key with its new secret.' })
  apiKey!: ListedKey;

  @Field(() => String, { description: 'The secret. Store it safely: it cannot be shown again.' })
  secret!: string;
}

@ObjectType({ description: 'The result of `createApiKey`.' })
export class CreateApiKeyPayload extends SecretPayload {}

@ObjectType({ description: 'The result of `rotateApiKey`.' })
export class RotateApiKeyPayload extends SecretPayload {}

@ObjectType({ description: 'The result of `updateApiKey`.' })
export class UpdateApiKeyPayload extends KeyPayload {}

@ObjectType({ description: 'The result of `revokeApiKey`.' })
export class RevokeApiKeyPayload extends KeyPayload {}

@ObjectType({ description: 'The result of `banApiKey`.' })
export class BanApiKeyPayload extends KeyPayload {}

@ObjectType({ description: 'The result of `unbanApiKey`.' })
export class UnbanApiKeyPayload extends KeyPayload {}

@ObjectType({ description: 'The result of `forgetApiKey`.' })
export class ForgetApiKeyPayload extends KeyPayload {}

@ObjectType({ description: 'The result of `setApiKeyPlan`.' })
export class SetApiKeyPlanPayload extends KeyPayload {}
