import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';

import type { EventFilter } from '../../domain/events/event-filter.ts';
import type { EventType } from '../../domain/events/event.ts';
import { decodeNodeIds } from '../node/node-id.ts';
import { EventTypeEnum } from './event.type.ts';

const afterDescription =
  'Only events after this position: the `id` of an event, `endCursor`, or `eventCursor`. EVENTS_GONE when the log no longer has it.';

@InputType('EventFilter', { description: 'Which events to read: those that match every given field.' })
export class EventFilterInput {
  @Field(() => [EventTypeEnum], {
    nullable: true,
    description: 'Is of one of these types. An empty list matches nothing. Name STORE_RESYNC too to hear of it.',
  })
  typeIn?: EventType[] | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      'Is about one of these objects, at most 1,000, or about all of them (STORE_RESYNC). An empty list matches nothing.',
  })
  nodeIdIn?: string[] | null;
}

@ArgsType()
class FilteredEventsArgs {
  @Field(() => EventFilterInput, { nullable: true, description: 'Only events that match all of these.' })
  filter?: EventFilterInput | null;
}

@ArgsType()
export class EventSubscriptionArgs extends FilteredEventsArgs {
  @Field(() => ID, { nullable: true, description: `${afterDescription} From now on when left out.` })
  after?: string | null;
}

@ArgsType()
export class EventArgs extends FilteredEventsArgs {
  @Field(() => Int, { nullable: true, description: 'The most events on the page, 0 to 100; 20 when left out.' })
  first?: number | null;

  @Field(() => ID, { nullable: true, description: `${afterDescription} The oldest events kept when left out.` })
  after?: string | null;
}

const maxFilterItems = 1_000;

/** The filter with the objects that the node ids name. Throws VALIDATION_FAILED. */
export function eventFilterOf(filter: EventFilterInput | null | undefined): EventFilter | undefined {
  if (filter === null || filter === undefined) return undefined;
  const { typeIn, nodeIdIn } = filter;
  const subjectIn = nodeIdIn && decodeNodeIds(nodeIdIn, { field: 'filter.nodeIdIn', max: maxFilterItems });
  return { typeIn, subjectIn };
}
