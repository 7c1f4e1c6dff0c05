import type { EventPosition, StoreEvent } from './event.ts';

export interface EventsAfter {
  /** False for a position that was dropped, never given, or given before the database was restored. */
  readonly isKnown: boolean;
  /** The position of the log's last event, at the moment of the read. */
  readonly last: EventPosition;
  /** In the order of the log. Empty when the position isn't known. */
  readonly events: readonly StoreEvent[];
}

/** The log of changes. Its one order never changes, and an event is never inserted before one that has been read. */
export interface EventStore {
  /** The position of the last event, or of the beginning. */
  last(): Promise<EventPosition>;
  /** The position before the oldest event that is kept. */
  beginning(): Promise<EventPosition>;
  /** At most so many events after the position; without one from the oldest event that is kept. One statement. */
  readAfter(after: EventPosition | undefined, limit: number): Promise<EventsAfter>;
}
