import { Field, ID, ObjectType } from 'type-graphql';

import { type ChangeRequest, eventTypes, type EventType, type StoreEvent } from '../../domain/events/event.ts';
import type { Id } from '../../domain/id.ts';
import type { NounName } from '../../domain/nouns.ts';
import type { Edge, PageInfo } from '../connections/connection.ts';
import { PageInfoType } from '../connections/connection.type.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { registerEnum } from '../enum.ts';

/** The descriptions that aren't made of the noun and the verb. */
const particular: Partial<Record<EventType, string>> = {
  'order.created': 'An order was placed.',
  'order.cancelled': 'An order was cancelled, and is gone.',
  'inventory.created': 'A pet has an inventory item: it was added with the pet.',
  'inventory.updated': 'The stock of a pet, or the status that it shows, is another.',
  'inventory.deleted': 'An inventory item was deleted with its pet.',
  'store.resync': 'Anything may have changed at once, without events of its own: read the lists again.',
};

function descriptionOf(type: EventType): string {
  const [noun, change] = type.split('.') as [NounName, string];
  if (particular[type] !== undefined) return particular[type];
  const article = /^[aeiou]/.test(noun) ? 'an' : 'a';
  if (change === 'updated') return `A field of ${article} ${noun} has another value.`;
  return `${article === 'an' ? 'An' : 'A'} ${noun} was ${change === 'created' ? 'added' : change}.`;
}

export const EventTypeEnum = registerEnum<EventType>(
  'EventType',
  'What has happened to an object of the store.',
  Object.fromEntries(eventTypes.map((type) => [type, descriptionOf(type)])) as Record<EventType, string>,
);

/** The computed fields are in the resolver. */
@ObjectType('Event', { description: 'A committed change of one object.' })
export class EventObjectType implements Pick<StoreEvent, 'type' | 'at'> {
  @Field(() => EventTypeEnum, { description: 'What has happened.' })
  type!: EventType;

  @Field(() => DateTimeScalar, {
    description: 'When the change was made. The order is that of the log: later events may have an earlier instant.',
  })
  at!: Date;
}

@ObjectType('EventRequest', { description: 'By which key and request something was changed.' })
export class EventRequestType implements ChangeRequest {
  @Field(() => ID, { nullable: true, description: 'The id of the key; null for ADMIN_API_KEY.' })
  keyId!: Id | undefined;

  @Field(() => String, { nullable: true, description: 'The `X-Request-Id` of the response.' })
  requestId!: string | undefined;
}

@ObjectType('EventEdge', { description: 'An edge of the log: an event and its cursor.' })
class EventEdgeType implements Edge<StoreEvent> {
  @Field(() => EventObjectType, { description: 'The event.' })
  node!: StoreEvent;

  @Field(() => String, { description: 'Its position: its `id`, for `after`.' })
  cursor!: string;
}

@ObjectType('EventConnection', { description: 'A page of the log, oldest event first.' })
export class EventConnectionType {
  @Field(() => [EventEdgeType], { description: 'The events of the page, in the order of the log.' })
  edges!: readonly Edge<StoreEvent>[];

  @Field(() => [EventObjectType], { description: 'The events of `edges` without their cursors.' })
  nodes!: readonly StoreEvent[];

  @Field(() => PageInfoType, {
    description:
      'Whether the log goes on, and where: with a filter a page may be short, or empty, while `hasNextPage` is true and `endCursor` moves on.',
  })
  pageInfo!: PageInfo;
}
