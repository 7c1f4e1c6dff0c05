import { parseId } from '../id.ts';
import type { Rule } from '../input.ts';
import { decodeOpaque, encodeOpaque, quoteOpaque } from '../opaque-text.ts';
import type { EventPosition } from './event.ts';

/** Differs from the kind of every list. */
const kind = 'event';

/** The opaque id of an event, or of a position between events: a cursor of the log. */
export function eventIdOf({ position, salt }: EventPosition): string {
  return encodeOpaque([kind, position, salt]);
}

/** The position in an id. Whether the log has it is another question; see `EventsAfter.isKnown`. */
export const eventIdRule: Rule<string, EventPosition> = (text, refuse) => {
  const parts = decodeOpaque(text);
  if (parts?.length === 3 && parts[0] === kind) {
    const [position, salt] = parts.slice(1).map((part) => (typeof part === 'string' ? parseId(part) : undefined));
    if (position !== undefined && salt !== undefined) return { position, salt };
  }
  refuse(`${quoteOpaque(text)} is not the id of an event: use one that this service has given you.`);
  return beginning;
};

/** Stands in for the position of a refused id. */
const beginning = { position: '0', salt: '0' } as EventPosition;

/** A position, or the one that is the last at the time of the request. */
export type EventCursor = EventPosition | 'now';

export const eventCursorRule: Rule<string, EventCursor> = (text, refuse) =>
  text === 'now' ? text : eventIdRule(text, refuse);
