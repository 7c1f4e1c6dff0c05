import type { Id } from '../id.ts';
import { nounNames, nouns, type EventTypeOf, type NounName, type RowOf } from '../nouns.ts';

/** As REST spells them. */
export type EventType = { [Name in NounName]: EventTypeOf<Name> }[NounName] | 'store.resync';

export const eventTypes = [
  ...nounNames.flatMap((noun) => nouns[noun].changes.map((change) => `${noun}.${change}`)),
  'store.resync',
] as readonly EventType[];

/**
 * A place in the log. The salt is random and stored with the event: after a restore the same position gets another one.
 */
export interface EventPosition {
  readonly position: Id;
  readonly salt: Id;
}

/** What was changed, as it was after the change, or before it for a deletion: its own columns, without relations. */
export type EventSubject = { [Name in NounName]: { readonly noun: Name; readonly row: RowOf<Name> } }[NounName];

/** One committed change of one object. */
export interface StoreEvent extends EventPosition {
  readonly type: EventType;
  /** When the change was made; later events may have an earlier instant. */
  readonly at: Date;
  /** Undefined for `store.resync`: everything may have changed. */
  readonly subject: EventSubject | undefined;
}
