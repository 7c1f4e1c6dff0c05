import { Field, Int, ObjectType } from 'type-graphql';

import type { Id } from '../../domain/id.ts';
import type { PlanName } from '../../domain/access/plan.ts';
import type { Scope } from '../../domain/access/scope.ts';
import { PlanEnum, ScopeEnum } from '../access/api-key.type.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';

@ObjectType('ViewerWindow', { description: 'What remains of one window.' })
export class ViewerWindowType {
  @Field(() => Int, { description: 'The requests that the window allows.' })
  limit!: number;

  @Field(() => Int, { description: 'The requests that remain after this one.' })
  remaining!: number;

  @Field(() => DateTimeScalar, {
    description: 'When the window closes; for one that is not open, when it would if it opened now.',
  })
  resetAt!: Date;
}

@ObjectType('Viewer', { description: 'The key that sends the request, and its plan.' })
export class ViewerType {
  /** For the fields of the key's requests; no field itself. */
  id!: Id;

  @Field(() => String, { description: 'The name of the key.' })
  name!: string;

  @Field(() => PlanEnum, { description: 'The plan, which sets its limits.' })
  plan!: PlanName;

  @Field(() => [ScopeEnum], { description: 'What it may do. WRITE includes READ, ADMIN includes all.' })
  scopes!: readonly Scope[];

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it expires; null if never.' })
  expiresAt!: Date | null;

  @Field(() => ViewerWindowType, { description: 'The window of 60 seconds.' })
  minute!: ViewerWindowType;

  @Field(() => ViewerWindowType, { description: 'The window of 24 hours.' })
  day!: ViewerWindowType;
}

@ObjectType('RateLimit', {
  description: 'The quota, in the window with the fewest requests left: the minute or the day.',
})
export class RateLimitType {
  @Field(() => Int, {
    description: 'The cost of this request: 1 for each root field, 0 when only this is selected.',
  })
  cost!: number;

  @Field(() => Int, { description: 'The requests that the window allows.' })
  limit!: number;

  @Field(() => Int, { description: 'The requests that remain after this one.' })
  remaining!: number;

  @Field(() => DateTimeScalar, { description: 'When the window closes; the next request after that opens a new one.' })
  resetAt!: Date;
}
