import { eventIdOf, type StoreEvent } from './event.ts';
import { idOf, nouns, representationOf, versionOfRow } from '../nouns.ts';

/** An event as clients of REST and receivers get it; `prefix` is before every path. A thin one is without its object. */
export function eventBody(event: StoreEvent, prefix: string, isThin = false): object {
  const { type, at, subject } = event;
  const head = { id: eventIdOf(event.position), type, at: at.toISOString() };
  if (subject === undefined) return head;
  return {
    ...head,
    resource: `${prefix}${nouns[subject.noun].path}/${idOf(subject.noun, subject.row)}`,
    version: versionOfRow(subject.noun, subject.row),
    ...(isThin ? {} : { object: representationOf(subject.noun, subject.row) }),
  };
}
