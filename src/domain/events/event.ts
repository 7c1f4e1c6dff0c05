import { nounNames, nouns, type EventTypeOf, type NounName, type RowOf } from '../nouns.ts';
import { type Id, parseId } from '../id.ts';
import type { Rule } from '../input.ts';
import { decodeOpaque, encodeOpaque } from '../opaque-text.ts';
import { quoted } from '../errors.ts';

/** As REST spells them. */
export type EventType = { [Name in NounName]: EventTypeOf<Name> }[NounName] | 'store.resync';

export const eventTypes = [
  ...nounNames.flatMap((noun) => nouns[noun].changes.map((change) => `${noun}.${change}`)),
  'store.resync',
] as readonly EventType[];

/** A number and a random nonce, stored with the event: after a restore the same number gets another nonce. */
export type EventPosition = `${bigint}:${bigint}`;

/** The changed row, as it was after the change, or before it for a deletion: its own columns, without relations. */
export type EventSubject = { [Name in NounName]: { readonly noun: Name; readonly row: RowOf<Name> } }[NounName];

/** By which key and request something was changed. */
export interface ChangeRequest {
  /** Undefined for ADMIN_API_KEY. */
  readonly keyId: Id | undefined;
  /** Undefined where plain SQL has named a key only. */
  readonly requestId: string | undefined;
}

/** One committed change of one object. */
export interface StoreEvent {
  readonly position: EventPosition;
  readonly type: EventType;
  /** When the change was made; later events may have an earlier instant. */
  readonly at: Date;
  /** Undefined for `store.resync`: everything may have changed. */
  readonly subject: EventSubject | undefined;
  /** Undefined for what no request has changed: commands, and plain SQL. */
  readonly request: ChangeRequest | undefined;
}

/** Numbers of the log grow with it. */
export function isLater(one: EventPosition, other: EventPosition): boolean {
  const numberOf = (position: EventPosition): bigint => BigInt(position.slice(0, position.indexOf(':')));
  return numberOf(one) > numberOf(other);
}

/** Differs from the kind of every list. */
const kind = 'event';

/** The opaque id of an event, or of a position between events: a cursor of the log. */
export function eventIdOf(position: EventPosition): string {
  return encodeOpaque([kind, ...position.split(':')]);
}

/** The position in an id. Whether the log has it is another question; see `EventsAfter.isKnown`. */
export const eventIdRule: Rule<string, EventPosition> = (text, refuse) => {
  const [first, ...numbers] = decodeOpaque(text) ?? [];
  const areNumbers = numbers.every((each) => typeof each === 'string' && parseId(each) !== undefined);
  if (first === kind && numbers.length === 2 && areNumbers) return numbers.join(':') as EventPosition;
  refuse(`${quoted(text)} is not the id of an event: use one that this service has given you.`);
  return '0:0';
};

/** A position, or the one that is the last at the time of the request. */
export type EventCursor = EventPosition | 'now';

export const eventCursorRule: Rule<string, EventCursor> = (text, refuse) =>
  text === 'now' ? text : eventIdRule(text, refuse);

/** Of an event besides its texts. */
const bytesOfEvent = 800;

/** An estimate of an event's memory: JavaScript keeps texts of other alphabets in two bytes for each character. */
export function memoryOf({ subject }: StoreEvent): number {
  let bytes = bytesOfEvent;
  for (const value of Object.values<unknown>(subject?.row ?? {}))
    if (typeof value === 'string') bytes += 2 * value.length;
  return bytes;
}
