import { Field, Int, ObjectType } from 'type-graphql';

import type { PlanName } from '../../domain/access/plan.ts';
import type { Scope } from '../../domain/access/scope.ts';
import { PlanEnum, ScopeEnum } from '../access/api-key.type.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';

@ObjectType('ViewerWindow', { description: 'What the key has left of one of its windows.' })
export class ViewerWindowType {
  @Field(() => Int, { description: 'How many requests the window has.' })
  limit!: number;

  @Field(() => Int, { description: 'How many are left, this request taken off.' })
  remaining!: number;

  @Field(() => DateTimeScalar, {
    description: 'When the window closes; for one that is not open, when it would if it opened now.',
  })
  resetAt!: Date;
}

@ObjectType('Viewer', { description: 'The key that sends the request, and its plan.' })
export class ViewerType {
  @Field(() => String, { description: 'What the key is called.' })
  name!: string;

  @Field(() => PlanEnum, { description: 'How many requests it has.' })
  plan!: PlanName;

  @Field(() => [ScopeEnum], { description: 'What it may do. WRITE includes READ, ADMIN includes all.' })
  scopes!: readonly Scope[];

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ends by itself; null when it never does.' })
  expiresAt!: Date | null;

  @Field(() => ViewerWindowType, { description: 'The window of 60 seconds.' })
  minute!: ViewerWindowType;

  @Field(() => ViewerWindowType, { description: 'The window of 24 hours.' })
  day!: ViewerWindowType;
}
