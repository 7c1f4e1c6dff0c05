import type { Id } from '../id.ts';
import { idOf } from '../nouns.ts';
import type { EventSubject, EventType, StoreEvent } from './event.ts';

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

/** Undefined lets all pass. `store.resync` may be about any object: every choice of objects includes it. */
export function eventPredicate(filter: EventFilter | null | undefined): EventPredicate | undefined {
  const { typeIn, subjectIn } = filter ?? {};
  const types = typeIn && new Set(typeIn);
  const subjects = subjectIn && idsOfNouns(subjectIn);
  if (!types && !subjects) return undefined;
  const isChosen = ({ subject }: StoreEvent): boolean => {
    if (!subjects || subjects.size === 0) return !subjects;
    return subject === undefined || has(subjects.get(subject.noun), BigInt(idOf(subject.noun, subject.row)));
  };
  return (event) => (!types || types.has(event.type)) && isChosen(event);
}

/** Sorted: eight bytes for each of a thousand, as long as a stream lasts. */
function idsOfNouns(subjects: readonly SubjectKey[]): ReadonlyMap<SubjectKey['noun'], BigInt64Array> {
  return new Map(
    [...new Set(subjects.map(({ noun }) => noun))].map((noun) => {
      const ids = subjects.filter((subject) => subject.noun === noun).map(({ id }) => BigInt(id));
      return [noun, BigInt64Array.from(ids).toSorted()] as const;
    }),
  );
}

function has(sorted: BigInt64Array = new BigInt64Array(), id: bigint): boolean {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] as bigint) < id) from = middle + 1;
    else to = middle;
  }
  return sorted[from] === id;
}
