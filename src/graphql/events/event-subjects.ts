import type { EventFilter } from '../../domain/events/event-filter.ts';
import type { EventSubject } from '../../domain/events/event.ts';
import { decodeNodeIds, type NodeTypeName } from '../node/node-id.ts';
import type { EventFilterInput } from './event.input.ts';

const nounOf: Readonly<Record<NodeTypeName, EventSubject['noun']>> = {
  Pet: 'pet',
  Category: 'category',
  Order: 'order',
  InventoryItem: 'inventory',
};

const typeNames = Object.fromEntries(Object.entries(nounOf).map(([type, noun]) => [noun, type])) as Record<
  EventSubject['noun'],
  NodeTypeName
>;

/** The GraphQL type of a noun. */
export function typeOfNoun(noun: EventSubject['noun']): NodeTypeName {
  return typeNames[noun];
}

const maxFilterItems = 1_000;

/** The filter with the objects that the node ids name. Throws VALIDATION_FAILED. */
export function eventFilterOf(filter: EventFilterInput | null | undefined): EventFilter | undefined {
  if (filter === null || filter === undefined) return undefined;
  const { typeIn, nodeIdIn } = filter;
  const keys = nodeIdIn && decodeNodeIds(nodeIdIn, { field: 'filter.nodeIdIn', max: maxFilterItems });
  return { typeIn, subjectIn: keys?.map(({ type, id }) => ({ noun: nounOf[type], id })) };
}
