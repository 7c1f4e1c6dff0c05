import { eventIdOf } from '../../domain/events/event-id.ts';
import { subjectId, subjectRepresentation, subjectVersion } from '../../domain/events/event-subject.ts';
import type { EventSubject, StoreEvent } from '../../domain/events/event.ts';

const collections: Readonly<Record<EventSubject['noun'], string>> = {
  pet: '/pets',
  category: '/categories',
  order: '/store/orders',
  inventory: '/inventory',
};

/** The body of an event; `prefix` is before every path. */
export function eventBody(event: StoreEvent, prefix: string): object {
  const { type, at, subject } = event;
  const head = { id: eventIdOf(event), type, at: at.toISOString() };
  if (subject === undefined) return head;
  return {
    ...head,
    resource: `${prefix}${collections[subject.noun]}/${subjectId(subject)}`,
    version: subjectVersion(subject),
    object: subjectRepresentation(subject),
  };
}
