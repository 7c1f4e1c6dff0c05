import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { AttemptResult, WebhookAttempt, WebhookFailure } from '../../domain/webhooks/webhook-attempt.entity.ts';
import type { WebhookAction, WebhookEndpointChange } from '../../domain/webhooks/webhook-endpoint-change.entity.ts';
import type {
  DisabledReason,
  HeldReason,
  WebhookEndpoint,
  WebhookState,
} from '../../domain/webhooks/webhook-endpoint.entity.ts';
import type { WebhookBacklog } from '../../domain/webhooks/webhook.store.ts';
import { connectionType } from '../connections/connection.type.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { registerEnum } from '../enum.ts';

export const WebhookStateEnum = registerEnum<WebhookState>('WebhookEndpointState', 'What happens to an endpoint.', {
  active: 'It is sent what happens.',
  paused: 'Nothing is sent until it is resumed; it goes on from where it was.',
  held: 'Nothing is sent until its signing key is set again, or it gets a new secret.',
  failing: 'Its last attempts have failed: only the next event is tried, less and less often.',
  disabled: 'Nothing is sent until it is resumed: it has failed for 5 days or answered 410, or its key has ended.',
});

const DisabledReasonEnum = registerEnum<DisabledReason>('WebhookDisabledReason', 'Why an endpoint was disabled.', {
  GONE: 'It has answered 410.',
  FAILED_FOR_DAYS: 'It has accepted nothing for 5 days.',
  KEY_ENDED: 'The key that manages it was revoked or has expired.',
});

export const HeldReasonEnum = registerEnum<HeldReason>('WebhookHeldReason', 'Why an endpoint is held.', {
  SIGNING_KEY: 'The signing key that its secret was derived from is not set.',
});

const WebhookActionEnum = registerEnum<WebhookAction>('WebhookEndpointAction', 'What was done to an endpoint.', {
  created: 'It was created.',
  updated: 'It was changed, paused, resumed, disabled, or got a new secret.',
  replayed: 'It was set back to an earlier event.',
  deleted: 'It was deleted.',
});

export const AttemptResultEnum = registerEnum<AttemptResult>('WebhookAttemptResult', 'What came of an attempt.', {
  delivered: 'It was accepted: 2xx.',
  refused: 'The event was refused: 4xx. It is tried five times in all.',
  failed: 'The endpoint has failed; the event is sent again.',
});

const WebhookFailureEnum = registerEnum<WebhookFailure>('WebhookFailure', 'Why there was no response.', {
  DNS: 'The name of the host could not be resolved.',
  CONNECT: 'No connection could be opened, or it was lost.',
  TLS: 'The certificate or the handshake was refused.',
  TIMEOUT: 'There was no response within the time.',
  FORBIDDEN_ADDRESS: 'The host has an address that is not allowed.',
  PROTOCOL: 'It was no response of HTTP.',
  TOO_LARGE: 'More was sent than is read of a response.',
});

/** What came of a request to an endpoint. */
@ObjectType()
abstract class SentRequestType {
  @Field(() => Int, { nullable: true, description: 'The HTTP status; null when there was no response.' })
  status!: number | null;

  @Field(() => WebhookFailureEnum, { nullable: true, description: 'Why there was no response.' })
  failure!: WebhookFailure | null;

  @Field(() => String, { nullable: true, description: 'The cause of the failure, in words.' })
  cause!: string | null;

  @Field(() => Int, { description: 'How long it took, in milliseconds.' })
  durationMillis!: number;
}

@ObjectType('WebhookAttempt', { description: 'An attempt to deliver an event.' })
export class WebhookAttemptType
  extends SentRequestType
  implements Omit<WebhookAttempt, 'id' | 'endpointId' | 'refusals'>
{
  @Field(() => String, { description: 'The id of the event, as in the header `webhook-id`.' })
  eventId!: string;

  @Field(() => DateTimeScalar, { description: 'When it ended.' })
  at!: Date;
}

@ObjectType('WebhookBacklog', { description: 'The events that an endpoint waits for.' })
export class WebhookBacklogType implements WebhookBacklog {
  @Field(() => Int, { description: 'How many, of the types that it wants; counted up to 10,000.' })
  events!: number;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When the oldest one was made; null without any.' })
  oldestAt!: Date | null;
}

@ObjectType('WebhookEndpointChange', { description: 'An entry in the history of an endpoint.' })
export class WebhookEndpointChangeType implements Pick<WebhookEndpointChange, 'at' | 'by' | 'action'> {
  @Field(() => DateTimeScalar, { description: 'When it was changed.' })
  at!: Date;

  @Field(() => String, {
    description: 'Who changed it: the id of a key, `ADMIN_API_KEY`, `cli`, `service` for what deliveries do, or `sql`.',
  })
  by!: string;

  @Field(() => WebhookActionEnum, { description: 'What was done.' })
  action!: WebhookAction;
}

/** The state, the types, the attempts and the history are in the resolver. */
@ObjectType('WebhookEndpoint', {
  description: 'An endpoint that events are sent to, signed as Standard Webhooks has it.',
})
export class WebhookEndpointType implements Pick<WebhookEndpoint, 'id' | 'url' | 'isThin' | 'maxInFlight'> {
  @Field(() => ID, { description: 'Assigned on creation: an int64.' })
  id!: WebhookEndpoint['id'];

  @Field(() => String, { description: 'Where events are sent to.' })
  url!: string;

  @Field(() => ID, { nullable: true, description: 'The key that manages it; null where administrators do.' })
  ownerId!: WebhookEndpoint['id'] | null;

  @Field(() => String, { nullable: true, description: 'A note for people.' })
  description!: string | null;

  @Field(() => Boolean, { description: 'Whether events are sent without their `object`.' })
  isThin!: boolean;

  @Field(() => Int, { description: 'How many deliveries may be under way, each of another object.' })
  maxInFlight!: number;

  @Field(() => DateTimeScalar, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Since when it has accepted nothing; null when it does.',
  })
  failingSince!: Date | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When a failing endpoint is tried again.' })
  nextAttemptAt!: Date | null;

  @Field(() => DisabledReasonEnum, { nullable: true, description: 'Why it was disabled.' })
  disabledReason!: DisabledReason | null;

  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Until when deliveries are also signed with the secret before the latest rotation, which may be past.',
  })
  previousSecretExpiresAt!: Date | null;
}

export const WebhookEndpointConnectionType = connectionType<WebhookEndpoint>(
  'WebhookEndpoint',
  () => WebhookEndpointType,
);
export const WebhookAttemptConnectionType = connectionType<WebhookAttempt>('WebhookAttempt', () => WebhookAttemptType);
export const WebhookEndpointChangeConnectionType = connectionType<WebhookEndpointChange>(
  'WebhookEndpointChange',
  () => WebhookEndpointChangeType,
);

@ObjectType()
abstract class EndpointPayload {
  @Field(() => WebhookEndpointType, { description: 'The endpoint as it is now.' })
  webhookEndpoint!: WebhookEndpoint;
}

@ObjectType()
abstract class SecretPayload extends EndpointPayload {
  @Field(() => String, {
    description: 'The secret to verify signatures with. Store it safely: it cannot be shown again.',
  })
  secret!: string;
}

@ObjectType({ description: 'The result of `createWebhookEndpoint`.' })
export class CreateWebhookEndpointPayload extends SecretPayload {}

@ObjectType({ description: 'The result of `rotateWebhookSecret`.' })
export class RotateWebhookSecretPayload extends SecretPayload {}

@ObjectType({ description: 'The result of `updateWebhookEndpoint`.' })
export class UpdateWebhookEndpointPayload extends EndpointPayload {}

@ObjectType({ description: 'The result of `pauseWebhookEndpoint`.' })
export class PauseWebhookEndpointPayload extends EndpointPayload {}

@ObjectType({ description: 'The result of `resumeWebhookEndpoint`.' })
export class ResumeWebhookEndpointPayload extends EndpointPayload {}

@ObjectType({ description: 'The result of `replayWebhookEndpoint`.' })
export class ReplayWebhookEndpointPayload extends EndpointPayload {}

@ObjectType({ description: 'The result of `testWebhookEndpoint`.' })
export class TestWebhookEndpointPayload extends SentRequestType {}

@ObjectType({ description: 'The result of `deleteWebhookEndpoint`.' })
export class DeleteWebhookEndpointPayload {
  @Field(() => ID, { description: 'The id of the deleted endpoint.' })
  deletedWebhookEndpointId!: string;
}
