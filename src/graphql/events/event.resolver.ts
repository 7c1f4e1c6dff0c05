import { Args, Ctx, FieldResolver, ID, Query, Resolver, Root, Subscription } from 'type-graphql';

import { hasScope } from '../../domain/access/scope.ts';
import type { EventPage } from '../../domain/events/event.service.ts';
import { type ChangeRequest, eventIdOf, type StoreEvent } from '../../domain/events/event.ts';
import { idOf, type NounName, nouns, type RowOf, versionOfRow } from '../../domain/nouns.ts';
import type { GraphQLContext } from '../context.ts';
import { encodeNodeId } from '../node/node-id.ts';
import { NodeType } from '../node/node.type.ts';
import { Computed } from '../field-extensions.ts';
import { NeedsScope } from '../scopes.ts';
import { EventArgs, eventFilterOf, EventSubscriptionArgs } from './event.input.ts';
import { EventConnectionType, EventObjectType, EventRequestType } from './event.type.ts';

@Resolver(() => EventObjectType)
export class EventResolver {
  @NeedsScope('read')
  @Query(() => EventConnectionType, {
    nullable: true,
    description:
      'The log of changes, oldest event first. Who reads on from the last `id` or `endCursor` misses nothing. A page looks at no more than 1,000 events.',
  })
  async events(
    @Args(() => EventArgs) { first, after, filter }: EventArgs,
    @Ctx() { services }: GraphQLContext,
  ): Promise<EventConnectionType> {
    return eventConnectionOf(await services.events.list({ first, after, filter: eventFilterOf(filter) }));
  }

  @NeedsScope('read')
  @Query(() => ID, {
    description: 'The position of the log now, for `after`: every change that is committed later comes after it.',
  })
  eventCursor(@Ctx() { services }: GraphQLContext): Promise<string> {
    return services.events.cursor();
  }

  /** Resolves one event of a stream; see `streams/`. */
  @NeedsScope('read')
  @Subscription(() => EventObjectType, {
    name: 'events',
    // Never called.
    topics: 'events',
    description:
      'Every committed change, as it happens: over `text/event-stream` or `multipart/mixed;subscriptionSpec=1.0`. A client that opens the next stream after the last `id` that it has processed misses nothing.',
  })
  streamed(
    @Root() event: StoreEvent,
    @Args(() => EventSubscriptionArgs) _args: EventSubscriptionArgs,
  ): EventObjectType {
    return event;
  }

  @FieldResolver(() => ID, { description: 'Its position in the log, for `after`: opaque and unique.' })
  id(@Root() event: StoreEvent): string {
    return eventIdOf(event.position);
  }

  @FieldResolver(() => ID, { nullable: true, description: 'The global id of the object; null for STORE_RESYNC.' })
  nodeId(@Root() { subject }: StoreEvent): string | null {
    return subject === undefined ? null : encodeNodeId(nouns[subject.noun].typeName, idOf(subject.noun, subject.row));
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The version of the object after the change; before it for a deletion; null for STORE_RESYNC.',
  })
  version(@Root() { subject }: StoreEvent): string | null {
    return subject === undefined ? null : versionOfRow(subject.noun, subject.row);
  }

  @FieldResolver(() => NodeType, {
    nullable: true,
    description:
      "The object's own fields as they were after the change; before it for a deletion; null for STORE_RESYNC. What is nested below it can't be selected.",
  })
  object(@Root() { subject }: StoreEvent): RowOf<NounName> | null {
    return subject?.row ?? null;
  }

  @Computed()
  @FieldResolver(() => EventRequestType, {
    nullable: true,
    description:
      'By which key and request it was changed; null for changes by commands and by SQL, and unless the key that asks has ADMIN.',
  })
  request(
    @Root() { request }: StoreEvent,
    @Ctx() { principal }: Pick<GraphQLContext, 'principal'>,
  ): ChangeRequest | null {
    return hasScope(principal, 'admin') ? (request ?? null) : null;
  }
}

function eventConnectionOf({ events, hasNextPage, hasPreviousPage, end }: EventPage): EventConnectionType {
  const edges = events.map((node) => ({ node, cursor: eventIdOf(node.position) }));
  return {
    edges,
    nodes: events,
    pageInfo: {
      hasNextPage,
      hasPreviousPage,
      startCursor: edges[0]?.cursor,
      endCursor: end && eventIdOf(end),
    },
  };
}
