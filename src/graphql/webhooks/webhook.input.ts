import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';

import type { EventType } from '../../domain/events/event.ts';
import type { NewWebhook, WebhookChanges } from '../../domain/webhooks/webhook-fields.ts';
import type { AttemptFilterRequest } from '../../domain/webhooks/webhook.store.ts';
import { ForwardPageArgs } from '../connections/connection.args.ts';
import { EventTypeEnum } from '../events/event.type.ts';
import { ConditionalInput } from '../safe-writes/conditional.input.ts';

const urlDescription =
  'Where events are sent to: https, at most 2,048 characters, without a user and a fragment. Its addresses must be public.';
const typesDescription = 'The types that it is sent, at least one; all by default. STORE_RESYNC is always sent.';
const thinDescription = 'Whether events are sent without their `object`; false by default.';
const inFlightDescription =
  'How many deliveries may be under way, each of another object: 1 to 16, 4 by default. With 1 all events are in order.';

@InputType('CreateWebhookEndpointInput', { description: 'A new endpoint.' })
export class CreateWebhookEndpointInput implements NewWebhook {
  @Field(() => String, { description: urlDescription })
  url!: string;

  @Field(() => String, { nullable: true, description: 'A note for people: at most 2,000 characters.' })
  description?: string | null;

  @Field(() => [EventTypeEnum], { nullable: true, description: typesDescription })
  eventTypes?: EventType[] | null;

  @Field(() => Boolean, { nullable: true, description: thinDescription })
  isThin?: boolean | null;

  @Field(() => Int, { nullable: true, description: inFlightDescription })
  maxInFlight?: number | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The id of an event: it is sent every later one. Without it, what happens from now on.',
  })
  after?: string | null;
}

@InputType({ description: 'An endpoint.' })
abstract class ChosenEndpoint extends ConditionalInput {
  @Field(() => ID, { description: 'The endpoint.' })
  id!: string;
}

@InputType('UpdateWebhookEndpointInput', {
  description: 'Which endpoint to change, and how; at least one field beside the id and the version.',
})
export class UpdateWebhookEndpointInput extends ChosenEndpoint implements WebhookChanges {
  @Field(() => String, { nullable: true, description: urlDescription })
  url?: string | null;

  @Field(() => String, { nullable: true, description: 'A note for people; null removes it.' })
  description?: string | null;

  @Field(() => [EventTypeEnum], { nullable: true, description: 'The types that it is sent; null for all.' })
  eventTypes?: EventType[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether events are sent without their `object`.' })
  isThin?: boolean | null;

  @Field(() => Int, { nullable: true, description: 'How many deliveries may be under way: 1 to 16.' })
  maxInFlight?: number | null;
}

@InputType('PauseWebhookEndpointInput', { description: 'Which endpoint to pause.' })
export class PauseWebhookEndpointInput extends ChosenEndpoint {}

@InputType('ResumeWebhookEndpointInput', { description: 'Which endpoint to resume.' })
export class ResumeWebhookEndpointInput extends ChosenEndpoint {}

@InputType('RotateWebhookSecretInput', {
  description: 'Which endpoint gets a new secret, and for how long deliveries are signed with both.',
})
export class RotateWebhookSecretInput extends ChosenEndpoint {
  @Field(() => Int, {
    nullable: true,
    description: 'For how many seconds: 0 to 604,800 (7 days), 86,400 (24 hours) by default.',
  })
  overlapSeconds?: number | null;
}

@InputType('ReplayWebhookEndpointInput', { description: 'Which endpoint to set back, and to where.' })
export class ReplayWebhookEndpointInput extends ChosenEndpoint {
  @Field(() => ID, {
    description: 'The id of an event that it has come to: every later one is sent once more.',
  })
  after!: string;
}

@InputType('TestWebhookEndpointInput', { description: 'Which endpoint to test.' })
export class TestWebhookEndpointInput {
  @Field(() => ID, { description: 'The endpoint.' })
  id!: string;
}

@InputType('DeleteWebhookEndpointInput', { description: 'Which endpoint to delete.' })
export class DeleteWebhookEndpointInput extends ChosenEndpoint {}

@InputType('WebhookAttemptFilter', { description: 'An attempt must match every field that is given.' })
export class WebhookAttemptFilterInput implements AttemptFilterRequest {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether only attempts are shown that were not answered by 2xx.',
  })
  failedOnly?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Only attempts of the event with this id.' })
  eventId?: string | null;
}

@ArgsType()
export class WebhookAttemptArgs extends ForwardPageArgs {
  @Field(() => WebhookAttemptFilterInput, { nullable: true, description: 'Which attempts; all by default.' })
  filter?: WebhookAttemptFilterInput | null;
}
