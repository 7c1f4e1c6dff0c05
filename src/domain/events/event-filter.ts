import type { Id } from '../id.ts';
import { idOf } from '../nouns.ts';
import type { EventSubject, EventType, StoreEvent } from './event.ts';

/** An object by its noun and id. */
interface SubjectKey {
  readonly noun: EventSubject['noun'];
  readonly id: Id;
}

/** An unset property doesn't filter; an empty list matches nothing. */
export interface EventFilter {
  readonly typeIn?: readonly EventType[] | null | undefined;
  readonly subjectIn?: readonly SubjectKey[] | null | undefined;
}

export type EventPredicate = (event: StoreEvent) => boolean;

/**
 * The predicate of a filter; undefined when it lets every event pass.
 *
 * `store.resync` may be about any object, so every choice of objects includes it; a choice of types has to name it.
 */
export function eventPredicate({ typeIn, subjectIn }: EventFilter = {}): EventPredicate | undefined {
  const types = typeIn && new Set(typeIn);
  const subjects = subjectIn && new Set(subjectIn.map(({ noun, id }) => `${noun} ${id}`));
  if (!types && !subjects) return undefined;
  const isChosen = ({ subject }: StoreEvent): boolean => {
    if (!subjects || subjects.size === 0) return !subjects;
    return subject === undefined || subjects.has(`${subject.noun} ${idOf(subject.noun, subject.row)}`);
  };
  return (event) => (!types || types.has(event.type)) && isChosen(event);
}
