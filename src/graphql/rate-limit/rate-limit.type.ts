import { Field, Int, ObjectType } from 'type-graphql';

import { DateTimeScalar } from '../date-time.scalar.ts';

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
