import { Field, Int, ObjectType } from 'type-graphql';

import { DateTimeScalar } from '../date-time.scalar.ts';

@ObjectType('RateLimit', {
  description: 'What the quota says, of the window with the fewest requests left: that of a minute or that of a day.',
})
export class RateLimitType {
  @Field(() => Int, {
    description: 'What this request costs: 1 for each root field, nothing when it asks only for this.',
  })
  cost!: number;

  @Field(() => Int, { description: 'How many requests the window has room for.' })
  limit!: number;

  @Field(() => Int, { description: 'How many are left, this request taken off.' })
  remaining!: number;

  @Field(() => DateTimeScalar, { description: 'When the window closes; the next request after that opens a new one.' })
  resetAt!: Date;
}
