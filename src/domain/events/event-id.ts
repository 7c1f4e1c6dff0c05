import { parseId } from '../id.ts';
import type { Rule } from '../input.ts';
import { decodeOpaque, encodeOpaque } from '../opaque-text.ts';
import { quoted } from '../quoted.ts';
import type { EventPosition } from './event.ts';

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
