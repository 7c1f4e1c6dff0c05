import { ArgsType, Field, InputType, Int } from 'type-graphql';

import type { KeyRequestFilterRequest, PeriodName, UsageRequest } from '../../domain/requests/request.service.ts';
import type { PageArguments } from '../../domain/page.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { registerEnum } from '../enum.ts';

const UsagePeriodLengthEnum = registerEnum<PeriodName>('UsagePeriodLength', 'How long the periods are.', {
  hour: 'An hour; kept for 35 days.',
  day: 'A day, UTC; kept for 400 days.',
});

@InputType('KeyRequestFilter', { description: 'Which requests of a key to list.' })
class KeyRequestFilterInput implements KeyRequestFilterRequest {
  @Field(() => String, { nullable: true, description: 'The request with this `X-Request-Id`.' })
  requestId?: string | null;

  @Field(() => Int, { nullable: true, description: 'Requests with at least this status, 100 to 599.' })
  statusAtLeast?: number | null;

  @Field(() => [String], { nullable: true, description: 'Requests with one of these codes, of either protocol.' })
  codeIn?: string[] | null;

  @Field(() => String, { nullable: true, description: 'Requests of this operation.' })
  operation?: string | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Requests from this instant on.' })
  since?: string | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Requests before this instant.' })
  until?: string | null;
}

@ArgsType()
export class KeyRequestConnectionArgs implements PageArguments {
  @Field(() => Int, { nullable: true, description: 'Takes this many, 0 to 100; 20 by default.' })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only entries after this cursor.' })
  after?: string | null;

  @Field(() => KeyRequestFilterInput, { nullable: true, description: 'Only requests that match all of these.' })
  filter?: KeyRequestFilterInput | null;
}

@ArgsType()
export class DeprecatedUserConnectionArgs implements PageArguments {
  @Field(() => String, { description: 'What is deprecated: `Pet.inventory`, or `GET /pets/{petId}`.' })
  coordinate!: string;

  @Field(() => Int, { nullable: true, description: 'Takes this many, 0 to 100; 20 by default.' })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only keys after this cursor.' })
  after?: string | null;
}

@ArgsType()
export class UsageHistoryArgs implements UsageRequest {
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'From the period with this instant on; the last 24 hours, or 30 days, by default.',
  })
  since?: string | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Periods that begin before this instant; now by default.',
  })
  until?: string | null;

  @Field(() => UsagePeriodLengthEnum, { defaultValue: 'hour', description: 'By the hour or by the day.' })
  per!: PeriodName;
}
