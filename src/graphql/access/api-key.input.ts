import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';

import type { ApiKeyChanges, ApiKeyFilterRequest } from '../../domain/access/access.service.ts';
import type { KeyStatus } from '../../domain/access/api-key.store.ts';
import type { NewApiKey } from '../../domain/access/new-api-key.ts';
import type { PlanInput, PlanName } from '../../domain/access/plan.ts';
import type { Scope } from '../../domain/access/scope.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { PageArgs } from '../connections/connection.args.ts';
import { ApiKeyStatusEnum, PlanEnum, ScopeEnum } from './api-key.type.ts';

@InputType({ description: 'A plan; ENTERPRISE needs limits for the key.' })
abstract class PlanFields implements PlanInput {
  @Field(() => PlanEnum, { description: 'The plan, which sets the limits.' })
  plan!: PlanName;

  @Field(() => Int, {
    nullable: true,
    description: 'Required for ENTERPRISE, at least 1; not allowed for other plans.',
  })
  requestsPerMinute?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Required for ENTERPRISE, at least 1; not allowed for other plans.',
  })
  requestsPerDay?: number | null;
}

@InputType('CreateApiKeyInput', { description: 'A new key.' })
export class CreateApiKeyInput extends PlanFields implements NewApiKey {
  @Field(() => String, {
    description: 'What it is called: 1 to 255 characters, no control characters. White space at both ends is cut off.',
  })
  name!: string;

  @Field(() => [ScopeEnum], { nullable: true, description: 'What it may do; READ and WRITE by default.' })
  scopes?: Scope[] | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it expires, in the future.' })
  expiresAt?: string | null;
}

@InputType('RevokeApiKeyInput', { description: 'Which key to revoke.' })
export class RevokeApiKeyInput {
  @Field(() => ID, { description: 'The key to revoke.' })
  id!: string;
}

@InputType('BanApiKeyInput', { description: 'Which key to ban, and for how long.' })
export class BanApiKeyInput {
  @Field(() => ID, { description: 'The key to ban.' })
  id!: string;

  @Field(() => Int, { description: 'How long the ban lasts from now on, at least 1; it replaces any earlier ban.' })
  seconds!: number;
}

@InputType('UnbanApiKeyInput', { description: 'Which key to unban.' })
export class UnbanApiKeyInput {
  @Field(() => ID, { description: 'The key to unban.' })
  id!: string;
}

@InputType('SetApiKeyPlanInput', { description: 'Which key gets another plan.' })
export class SetApiKeyPlanInput extends PlanFields {
  @Field(() => ID, { description: 'The key to change.' })
  id!: string;
}

@InputType('UpdateApiKeyInput', { description: 'Which key to change, and how; at least one field beside the id.' })
export class UpdateApiKeyInput implements ApiKeyChanges {
  @Field(() => ID, { description: 'The key to change.' })
  id!: string;

  @Field(() => String, { nullable: true, description: 'A new name, by the same rules as on creation.' })
  name?: string | null;

  @Field(() => [ScopeEnum], { nullable: true, description: 'New scopes; at least one.' })
  scopes?: Scope[] | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'A new expiry, in the future; null removes it.',
  })
  expiresAt?: string | null;
}

@InputType('ForgetApiKeyInput', { description: 'Which key to forget.' })
export class ForgetApiKeyInput {
  @Field(() => ID, { description: 'The revoked key.' })
  id!: string;
}

@InputType('RotateApiKeyInput', { description: 'Which key gets a new secret, and how long the old one stays valid.' })
export class RotateApiKeyInput {
  @Field(() => ID, { description: 'The key to rotate.' })
  id!: string;

  @Field(() => Int, {
    nullable: true,
    description:
      'How many seconds the old secret stays valid: 0 to 2,592,000 (30 days), 86,400 (24 hours) by default, and never longer than the key.',
  })
  overlapSeconds?: number | null;
}

@InputType('ApiKeyFilter', { description: 'Which keys to list.' })
class ApiKeyFilterInput implements ApiKeyFilterRequest {
  @Field(() => String, {
    nullable: true,
    description:
      'The name contains this text, without regard to case. Counts 500 in complexity for the page, and 500 for `totalCount`.',
  })
  nameContains?: string | null;

  @Field(() => PlanEnum, { nullable: true, description: 'Keys with this plan.' })
  plan?: PlanName | null;

  @Field(() => ApiKeyStatusEnum, { nullable: true, description: 'Keys with this status.' })
  status?: KeyStatus | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Keys that have spent at least this many percent of their limit per minute or per day, 1 to 100.',
  })
  nearLimitPercent?: number | null;
}

@ArgsType()
export class ApiKeyConnectionArgs extends PageArgs {
  @Field(() => ApiKeyFilterInput, { nullable: true, description: 'Only keys that match all of these.' })
  filter?: ApiKeyFilterInput | null;
}
