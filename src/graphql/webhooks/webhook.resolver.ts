import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import { describeChanges } from '../../domain/access/api-key-change.entity.ts';
import { validationFailed } from '../../domain/errors.ts';
import { eventIdOf, type EventType } from '../../domain/events/event.ts';
import { type AttemptResult, resultOf, type WebhookAttempt } from '../../domain/webhooks/webhook-attempt.entity.ts';
import type { WebhookEndpointChange } from '../../domain/webhooks/webhook-endpoint-change.entity.ts';
import {
  type HeldReason,
  type WebhookEndpoint,
  type WebhookState,
  webhookVersion,
} from '../../domain/webhooks/webhook-endpoint.entity.ts';
import type { WebhookBacklog } from '../../domain/webhooks/webhook.store.ts';
import { ForwardPageArgs, PageArgs } from '../connections/connection.args.ts';
import { childConnection, PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { EventTypeEnum } from '../events/event.type.ts';
import { NeedsScope } from '../scopes.ts';
import {
  CreateWebhookEndpointInput,
  DeleteWebhookEndpointInput,
  PauseWebhookEndpointInput,
  ReplayWebhookEndpointInput,
  ResumeWebhookEndpointInput,
  RotateWebhookSecretInput,
  TestWebhookEndpointInput,
  UpdateWebhookEndpointInput,
  WebhookAttemptArgs,
} from './webhook.input.ts';
import {
  AttemptResultEnum,
  CreateWebhookEndpointPayload,
  DeleteWebhookEndpointPayload,
  HeldReasonEnum,
  PauseWebhookEndpointPayload,
  ReplayWebhookEndpointPayload,
  ResumeWebhookEndpointPayload,
  RotateWebhookSecretPayload,
  TestWebhookEndpointPayload,
  UpdateWebhookEndpointPayload,
  WebhookAttemptConnectionType,
  WebhookAttemptType,
  WebhookBacklogType,
  WebhookEndpointChangeConnectionType,
  WebhookEndpointChangeType,
  WebhookEndpointConnectionType,
  WebhookEndpointType,
  WebhookStateEnum,
} from './webhook.type.ts';

@Resolver(() => WebhookEndpointChangeType)
class WebhookEndpointChangeResolver {
  @FieldResolver(() => [String], { description: 'The changed properties: `isPaused: false → true`.' })
  changes(@Root() change: WebhookEndpointChange): string[] {
    return describeChanges(change);
  }
}

@Resolver(() => WebhookAttemptType)
class WebhookAttemptResolver {
  @FieldResolver(() => AttemptResultEnum, { description: 'What came of it.' })
  result(@Root() attempt: WebhookAttempt): AttemptResult {
    return resultOf(attempt);
  }
}

/** The administration of webhook endpoints. A change takes effect in every process within two seconds. */
@Resolver(() => WebhookEndpointType)
class WebhookEndpointResolver {
  @NeedsScope('webhooks')
  @Query(() => WebhookEndpointConnectionType, {
    nullable: true,
    description:
      'The webhook endpoints of the key, or all of them for administrators, page by page. Needs the scope WEBHOOKS.',
  })
  async webhookEndpoints(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { services: { webhooks } }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<WebhookEndpoint>> {
    return new PageConnection(await webhooks.list(requestFor(args, info)), () => webhooks.count());
  }

  @NeedsScope('webhooks')
  @Query(() => WebhookEndpointType, {
    nullable: true,
    description: 'The endpoint with this id; null when there is none. Needs the scope WEBHOOKS.',
  })
  webhookEndpoint(
    @Arg('id', () => ID, { description: 'The id of an endpoint.' }) id: string,
    @Ctx() { services: { webhooks } }: GraphQLContext,
  ): Promise<WebhookEndpoint | null> {
    return webhooks.find(id);
  }

  @FieldResolver(() => WebhookStateEnum, { description: 'Whether it is sent what happens.' })
  state(@Root() endpoint: WebhookEndpoint, @Ctx() { services: { webhooks } }: GraphQLContext): WebhookState {
    return webhooks.stateOf(endpoint);
  }

  @FieldResolver(() => HeldReasonEnum, { nullable: true, description: 'Why it is held.' })
  heldReason(@Root() endpoint: WebhookEndpoint, @Ctx() { services: { webhooks } }: GraphQLContext): HeldReason | null {
    return webhooks.stateOf(endpoint) === 'held' ? 'SIGNING_KEY' : null;
  }

  @FieldResolver(() => [EventTypeEnum], { nullable: true, description: 'The types that it is sent; null for all.' })
  eventTypes(@Root() { eventTypes }: WebhookEndpoint): EventType[] | null {
    return eventTypes ?? null;
  }

  @FieldResolver(() => ID, { description: 'The id of an event: everything up to it is done.' })
  position(@Root() { position }: WebhookEndpoint): string {
    return eventIdOf(position);
  }

  @FieldResolver(() => String, {
    description: 'Changes with every change of its settings. Opaque. Send it as `ifVersion` with a change.',
  })
  version(@Root() endpoint: WebhookEndpoint): string {
    return webhookVersion(endpoint);
  }

  @FieldResolver(() => WebhookAttemptConnectionType, {
    nullable: true,
    description: 'Its last 1,000 attempts of 7 days, latest first, page by page.',
  })
  attempts(
    @Root() endpoint: WebhookEndpoint,
    @Args(() => WebhookAttemptArgs) args: WebhookAttemptArgs,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<WebhookAttempt> | null> {
    return childConnection(
      loaders.children('WebhookEndpoint.attempts', ({ webhooks }) => webhooks.attempts),
      endpoint,
      args,
      info,
    );
  }

  @FieldResolver(() => WebhookBacklogType, {
    nullable: true,
    description: 'What it waits for, whatever its state; what is saved of its position may be 5 s old.',
  })
  backlog(@Root() { id }: WebhookEndpoint, @Ctx() { loaders }: GraphQLContext): Promise<WebhookBacklog> {
    return loaders.ofEach('WebhookEndpoint.backlog', ({ webhooks }, ids) => webhooks.backlogs(ids)).load(id);
  }

  @FieldResolver(() => WebhookEndpointChangeConnectionType, {
    nullable: true,
    description: 'Its last 1,000 changes, latest first, page by page.',
  })
  history(
    @Root() endpoint: WebhookEndpoint,
    @Args(() => ForwardPageArgs) args: ForwardPageArgs,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<WebhookEndpointChange> | null> {
    return childConnection(
      loaders.children('WebhookEndpoint.history', ({ webhooks }) => webhooks.history),
      endpoint,
      args,
      info,
    );
  }

  @NeedsScope('webhooks')
  @Mutation(() => CreateWebhookEndpointPayload, {
    nullable: true,
    description:
      'Creates an endpoint. CONFLICT beyond 5 of a key or 1,000 in all, or while webhooks are off. Needs the scope WEBHOOKS.',
  })
  createWebhookEndpoint(
    @Arg('input', () => CreateWebhookEndpointInput, { description: 'The new endpoint.' })
    input: CreateWebhookEndpointInput,
    @Ctx() { services: { webhooks } }: GraphQLContext,
  ): Promise<CreateWebhookEndpointPayload> {
    return webhooks.create(input);
  }

  @NeedsScope('webhooks')
  @Mutation(() => UpdateWebhookEndpointPayload, {
    nullable: true,
    description: 'Changes an endpoint. NOT_FOUND when there is none. Needs the scope WEBHOOKS.',
  })
  async updateWebhookEndpoint(
    @Arg('input', () => UpdateWebhookEndpointInput, { description: 'Which endpoint, and what to change.' })
    { id, ifVersion, ...changes }: UpdateWebhookEndpointInput,
    @Ctx() { services: { webhooks } }: GraphQLContext,
  ): Promise<UpdateWebhookEndpointPayload> {
    return { webhookEndpoint: await webhooks.update(id, changes, ifVersion) };
  }

  @NeedsScope('webhooks')
  @Mutation(() => PauseWebhookEndpointPayload, {
    nullable: true,
    description: 'Sends nothing to an endpoint until it is resumed. Needs the scope WEBHOOKS.',
  })
  async pauseWebhookEndpoint(
    @Arg('input', () => PauseWebhookEndpointInput, { description: 'Which endpoint.' })
    { id, ifVersion }: PauseWebhookEndpointInput,
    @Ctx() { services: { webhooks } }: GraphQLContext,
  ): Promise<PauseWebhookEndpointPayload> {
    return { webhookEndpoint: await webhooks.pause(id, ifVersion) };
  }

  @NeedsScope('webhooks')
  @Mutation(() => ResumeWebhookEndpointPayload, {
    nullable: true,
    description:
      'Sends to a paused, failing or disabled endpoint again, from where it was, at once. Needs the scope WEBHOOKS.',
  })
  async resumeWebhookEndpoint(
    @Arg('input', () => ResumeWebhookEndpointInput, { description: 'Which endpoint.' })
    { id, ifVersion }: ResumeWebhookEndpointInput,
    @Ctx() { services: { webhooks } }: GraphQLContext,
  ): Promise<ResumeWebhookEndpointPayload> {
    return { webhookEndpoint: await webhooks.resume(id, ifVersion) };
  }

  @NeedsScope('webhooks')
  @Mutation(() => RotateWebhookSecretPayload, {
    nullable: true,
    description:
      'Gives an endpoint a new secret; deliveries are signed with both for a while. Needs the scope WEBHOOKS.',
  })
  rotateWebhookSecret(
    @Arg('input', () => RotateWebhookSecretInput, { description: 'Which endpoint, and for how long both are good.' })
    { id, overlapSeconds, ifVersion }: RotateWebhookSecretInput,
    @Ctx() { services: { webhooks } }: GraphQLContext,
  ): Promise<RotateWebhookSecretPayload> {
    return webhooks.rotateSecret(id, overlapSeconds, ifVersion);
  }

  @NeedsScope('webhooks')
  @Mutation(() => ReplayWebhookEndpointPayload, {
    nullable: true,
    description:
      'Sends everything after an event once more. EVENTS_GONE when the log no longer has it. Needs the scope WEBHOOKS.',
  })
  async replayWebhookEndpoint(
    @Arg('input', () => ReplayWebhookEndpointInput, { description: 'Which endpoint, and from where.' })
    { id, after, ifVersion }: ReplayWebhookEndpointInput,
    @Ctx() { services: { webhooks } }: GraphQLContext,
  ): Promise<ReplayWebhookEndpointPayload> {
    return { webhookEndpoint: await webhooks.replay(id, after, ifVersion) };
  }

  @NeedsScope('webhooks')
  @Mutation(() => TestWebhookEndpointPayload, {
    nullable: true,
    description:
      'Sends an event of the type `webhook.test` now, and returns what came of it, at most 15 seconds later. Needs the scope WEBHOOKS.',
  })
  async testWebhookEndpoint(
    @Arg('input', () => TestWebhookEndpointInput, { description: 'Which endpoint.' }) { id }: TestWebhookEndpointInput,
    @Ctx() { atomic, services: { webhooks } }: GraphQLContext,
  ): Promise<TestWebhookEndpointPayload> {
    if (atomic !== undefined) throw notAtomic();
    const { status = null, failure = null, cause = null, durationMillis } = await webhooks.test(id);
    return { status, failure, cause, durationMillis };
  }

  @NeedsScope('webhooks')
  @Mutation(() => DeleteWebhookEndpointPayload, {
    nullable: true,
    description: 'Deletes an endpoint with its attempts; its history stays for 7 days. Needs the scope WEBHOOKS.',
  })
  async deleteWebhookEndpoint(
    @Arg('input', () => DeleteWebhookEndpointInput, { description: 'Which endpoint.' })
    { id, ifVersion }: DeleteWebhookEndpointInput,
    @Ctx() { services: { webhooks } }: GraphQLContext,
  ): Promise<DeleteWebhookEndpointPayload> {
    return { deletedWebhookEndpointId: await webhooks.delete(id, ifVersion) };
  }
}

export const webhookResolvers = [
  WebhookEndpointChangeResolver,
  WebhookAttemptResolver,
  WebhookEndpointResolver,
] as const;

function notAtomic(): Error {
  const message = 'testWebhookEndpoint waits for its receiver, for which no lock may wait: send it without @atomic.';
  return validationFailed([{ field: '@atomic', message }]);
}
