import type { EventPosition, StoreEvent } from './event.ts';

/** What follows a position in the log. */
export interface EventsAfter {
  /**
   * False when the log doesn't have this position: it was dropped, or never given, or given in a database that was
   * restored since.
   */
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
  /** At most so many events after the position; without one from the oldest event that is kept. One statement. */
  readAfter(after: EventPosition | undefined, limit: number): Promise<EventsAfter>;
}

/** What one run of the sequencer has done. */
export interface EventMove {
  /** The number of changes that were moved into the log. */
  readonly moved: number;
  /** Whether this process is the one that moves: the others look less often. */
  readonly isHolder: boolean;
  /** How long the oldest committed change has been waiting; 0 when none waits, or another process knows. */
  readonly lagSeconds: number;
}

/** What the sequencer does in the database. */
export interface EventMoves {
  /**
   * Moves at most so many committed changes into the log, if no other process is moving. One statement, one
   * transaction.
   */
  move(mover: string, limit: number): Promise<EventMove>;
  /** Drops the days that are older, if no other process is at it. Returns the size of the log in bytes. */
  maintain(retentionSeconds: number): Promise<number>;
}
