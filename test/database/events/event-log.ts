import type { EventPosition, StoreEvent } from '../../../src/domain/events/event.ts';
import type { EventMoves } from '../../../src/platform/feed/sequencer.ts';
import { openTestDatabase, type OpenedDatabase } from '../../support/opened-database.ts';
import { until } from '../../support/until.ts';
import { testCaller } from '../../support/caller.ts';

const pageSize = 100;

/** What is committed and not yet in the log. */
export const waiting = 'select from event_outbox union all select from event_backlog limit 1';

/** A database of one suite, whose log is moved and read by the suite alone. */
export interface EventLog extends OpenedDatabase {
  readonly moves: EventMoves;
  /** Moves everything that is committed. */
  move(limit?: number): Promise<void>;
  /** All events after the position, in words: type, id, and the other fields. */
  readAfter(position?: EventPosition): Promise<StoreEvent[]>;
  /** The work's events in words, `pet.updated 1 {"name":…}`, in the order of the log. */
  eventsOf(work: () => Promise<unknown>, limit?: number): Promise<string[]>;
}

export async function openEventLog(): Promise<EventLog> {
  const opened = await openTestDatabase();
  const { stores } = opened;
  const moves = opened.database.eventMoves(testCaller);
  const log: EventLog = {
    ...opened,
    moves,
    move: async (limit = 1_000) => {
      await until(async () => (await moves.move('suite', limit)).moved === 0);
    },
    readAfter: async (position) => {
      const events: StoreEvent[] = [];
      await until(async () => {
        const page = await stores.events.readAfter(events.at(-1)?.position ?? position, pageSize);
        if (!page.isKnown) throw new Error('The log does not know this position.');
        events.push(...page.events);
        return page.events.length < pageSize;
      });
      return events;
    },
    eventsOf: async (work, limit) => {
      await log.move();
      const before = await stores.events.last();
      await work();
      await log.move(limit);
      return (await log.readAfter(before)).map(inWords);
    },
  };
  return log;
}

export function inWords({ type, subject }: StoreEvent): string {
  return subject === undefined ? type : `${type} ${JSON.stringify(subject.row)}`;
}
