import { Field, ID, InputType, Int } from 'type-graphql';

import type { NewApiKey } from '../../domain/access/new-api-key.ts';
import type { PlanInput, PlanName } from '../../domain/access/plan.ts';
import type { Scope } from '../../domain/access/scope.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { PlanEnum, ScopeEnum } from './api-key.type.ts';

@InputType({ description: 'A plan, with figures of its own for ENTERPRISE alone.' })
abstract class PlanFields implements PlanInput {
  @Field(() => PlanEnum, { description: 'How many requests the key has.' })
  plan!: PlanName;

  @Field(() => Int, { nullable: true, description: 'Needed for ENTERPRISE, at least 1; the other plans say it.' })
  requestsPerMinute?: number | null;

  @Field(() => Int, { nullable: true, description: 'Needed for ENTERPRISE, at least 1; the other plans say it.' })
  requestsPerDay?: number | null;
}

@InputType('CreateApiKeyInput', { description: 'A new key.' })
export class CreateApiKeyInput extends PlanFields implements NewApiKey {
  @Field(() => String, {
    description: 'What it is called: 1 to 255 characters, no control characters. White space at both ends is cut off.',
  })
  name!: string;

  @Field(() => [ScopeEnum], { nullable: true, description: 'What it may do; READ and WRITE when left out.' })
  scopes?: Scope[] | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ends by itself, in the future.' })
  expiresAt?: string | null;
}

@InputType('RevokeApiKeyInput', { description: 'Which key to end for ever.' })
export class RevokeApiKeyInput {
  @Field(() => ID, { description: 'The key to revoke.' })
  id!: string;
}

@InputType('BanApiKeyInput', { description: 'Which key to refuse, and for how long.' })
export class BanApiKeyInput {
  @Field(() => ID, { description: 'The key to ban.' })
  id!: string;

  @Field(() => Int, { description: 'From now on, at least 1; whatever ban there was before ends.' })
  seconds!: number;
}

@InputType('UnbanApiKeyInput', { description: 'Which key to let in again.' })
export class UnbanApiKeyInput {
  @Field(() => ID, { description: 'The key to unban.' })
  id!: string;
}

@InputType('SetApiKeyPlanInput', { description: 'Which key gets which plan.' })
export class SetApiKeyPlanInput extends PlanFields {
  @Field(() => ID, { description: 'The key to change.' })
  id!: string;
}
