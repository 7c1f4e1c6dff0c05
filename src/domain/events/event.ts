import { nounNames, nouns, type EventTypeOf, type NounName, type RowOf } from '../nouns.ts';

/** As REST spells them. */
export type EventType = { [Name in NounName]: EventTypeOf<Name> }[NounName] | 'store.resync';

export const eventTypes = [
  ...nounNames.flatMap((noun) => nouns[noun].changes.map((change) => `${noun}.${change}`)),
  'store.resync',
] as readonly EventType[];

/**
 * A place in the log: its number and its nonce, which is random and stored with the event. After a restore the same
 * number gets another nonce.
 */
export type EventPosition = `${bigint}:${bigint}`;

/** What was changed, as it was after the change, or before it for a deletion: its own columns, without relations. */
export type EventSubject = { [Name in NounName]: { readonly noun: Name; readonly row: RowOf<Name> } }[NounName];

/** One committed change of one object. */
export interface StoreEvent {
  readonly position: EventPosition;
  readonly type: EventType;
  /** When the change was made; later events may have an earlier instant. */
  readonly at: Date;
  /** Undefined for `store.resync`: everything may have changed. */
  readonly subject: EventSubject | undefined;
}
