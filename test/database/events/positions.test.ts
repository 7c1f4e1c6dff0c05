import { beforeEach, expect, it } from '@jest/globals';

import type { EventPosition } from '../../../src/domain/events/event.ts';
import { inWords, openEventLog } from './event-log.ts';

const log = await openEventLog();
const { events } = log.stores;

const beginningOfLog = await events.last();
await log.sql(`insert into categories (name) values ('first')`);
await log.move();
const newLog = [await log.readAfter(beginningOfLog), await log.readAfter()];

const add = (...names: readonly string[]): Promise<unknown> =>
  log.sql('insert into categories (name) select unnest($1::text[])', [names]);

const namesAfter = async (position?: EventPosition): Promise<(string | undefined)[]> =>
  (await log.readAfter(position)).map((event) => /"name":"(.*?)"/.exec(inWords(event))?.[1]);

const isKnown = async (position: EventPosition): Promise<boolean> => (await events.readAfter(position, 1)).isKnown;

/** Its number and its nonce. */
function partsOf(position: EventPosition): [bigint, bigint] {
  return position.split(':').map(BigInt) as [bigint, bigint];
}

async function twoAfter(position: EventPosition): Promise<[EventPosition, EventPosition]> {
  const [first, second, ...others] = await log.readAfter(position);
  if (first === undefined || second === undefined || others.length > 0) throw new Error('These are not two events.');
  return [first.position, second.position];
}

let beginning: EventPosition;

beforeEach(async () => {
  await log.move();
  beginning = await events.last();
});

it('reading on finds every later event, once, in pages of any size', async () => {
  await add('a', 'b', 'c');
  await log.move(2);
  await add('d');
  await log.move();
  for (const limit of [1, 2, 3, 100]) {
    const names: string[] = [];
    for (let position = beginning; ;) {
      const page = await events.readAfter(position, limit);
      expect([page.isKnown, page.last]).toEqual([true, await events.last()]);
      const last = page.events.at(-1);
      if (last === undefined) break;
      names.push(...page.events.map(inWords));
      ({ position } = last);
    }
    expect(names.map((event) => /"name":"(.*?)"/.exec(event)?.[1])).toEqual(['a', 'b', 'c', 'd']);
  }
});

it('what is committed is not in the log before it has been moved', async () => {
  await add('waits');
  expect(await namesAfter(beginning)).toEqual([]);
  await log.move();
  expect(await namesAfter(beginning)).toEqual(['waits']);
});

it('a new log knows its beginning, which is before its first event', () => {
  for (const read of newLog) expect(read.map(({ type }) => type)).toEqual(['category.created']);
});

it('a position is known only with the nonce of its event', async () => {
  await add('e', 'f');
  await log.move();
  const [first, last] = await twoAfter(beginning);
  expect(await isKnown(first)).toBe(true);
  const [[number], [lastNumber, nonce]] = [partsOf(first), partsOf(last)];
  expect(await isKnown(`${number}:${nonce}`)).toBe(false);
  expect(await isKnown(`${lastNumber + 1n}:${nonce}`)).toBe(false);
  expect((await events.readAfter(`${number}:${nonce}`, 10)).events).toEqual([]);
});

it('a number that is given again, after a restore, has another nonce', async () => {
  await add('lost');
  await log.move();
  const [lost] = await log.readAfter(beginning);
  const [number, nonce] = partsOf(beginning);
  await log.sql(`delete from events where position > ${number}`);
  await log.sql(`update event_state set position = ${number}, nonce = ${nonce}`);
  await add('another');
  await log.move();
  const again = await log.readAfter(beginning);
  expect(again.map(({ position }) => partsOf(position)[0])).toEqual([partsOf(lost!.position)[0]]);
  expect(await isKnown(lost!.position)).toBe(false);
});

it('days that are older than the retention are dropped, and readers that have read them all have missed nothing', async () => {
  await add('old', 'older readers miss it');
  await log.move();
  const [old, oldest] = await twoAfter(beginning);
  // The whole log becomes eight days older.
  const days = 8n << 40n;
  const [partition] = await log.sql(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass`,
  );
  const name = String(partition?.['name']);
  const [first] = await log.sql(`select to_char(now() - interval '8 days', '"events_"YYYYMMDD') as name,
    (extract(epoch from now())::bigint / 86400 - 8) << 40 as low, (extract(epoch from now())::bigint / 86400 - 7) << 40 as high`);
  await log.sql(`alter table events detach partition ${name}; alter table ${name} rename to ${String(first?.['name'])};
    update ${String(first?.['name'])} set position = position - ${days};
    update event_state set position = position - ${days}, dropped_position = 0;
    alter table events attach partition ${String(first?.['name'])} for values from (${String(first?.['low'])}) to (${String(first?.['high'])})`);
  const older = (position: EventPosition): EventPosition => {
    const [number, nonce] = partsOf(position);
    return `${number - days}:${nonce}`;
  };
  expect(await isKnown(older(old))).toBe(true);
  expect(await log.moves.maintain(9 * 86_400)).toBeGreaterThan(0);
  expect(await isKnown(older(old))).toBe(true);
  // That day hasn't been over for so long.
  expect(await log.moves.maintain(8 * 86_400)).toBeGreaterThan(0);
  expect(await isKnown(older(old))).toBe(true);
  expect(await log.moves.maintain(7 * 86_400)).toBe(0);
  expect([await isKnown(older(old)), await isKnown(older(oldest))]).toEqual([false, true]);
  await add('new');
  await log.move();
  expect(await namesAfter(older(oldest))).toEqual(['new']);
  expect(await namesAfter()).toEqual(['new']);
});

it('the retention is 1 to 30 days', async () => {
  await expect(log.moves.maintain(86_399)).rejects.toThrow('Events are kept for 1 to 30 days');
  await expect(log.moves.maintain(30 * 86_400 + 1)).rejects.toThrow('Events are kept for 1 to 30 days');
});

it('an outbox that is large and empty is made small', async () => {
  // The server's own vacuum cuts off the empty pages at the end, if it comes first.
  await log.sql('alter table event_outbox set (vacuum_truncate = off)');
  await log.sql(`insert into categories (name) select 'many ' || n from generate_series(1, 12000) as n`);
  await log.move(20_000);
  const bytes = async () => Number((await log.sql(`select pg_relation_size('event_outbox') as bytes`))[0]?.['bytes']);
  expect(await bytes()).toBeGreaterThan(1_048_576);
  await log.moves.maintain(86_400);
  expect(await bytes()).toBe(0);
});

it('what is too much for one run goes on from the backlog in the order of its changes, before what comes later', async () => {
  await log.sql(`insert into categories (name) select 'waits ' || n from generate_series(1, 30) as n`);
  expect(await log.moves.move('suite', 4)).toMatchObject({ moved: 20 });
  expect(await log.sql('select count(*)::int as count from event_backlog')).toEqual([{ count: 20 }]);
  expect(await namesAfter(beginning)).toEqual([]);
  expect(await log.moves.move('suite', 4)).toMatchObject({ moved: 4 });
  await add('later');
  await log.move();
  const names = await namesAfter(beginning);
  expect(names).toEqual([...Array.from({ length: 30 }, (_, index) => `waits ${index + 1}`), 'later']);
});

it('one process moves, and another one takes over when it has moved nothing for a second', async () => {
  await add('g');
  await log.sql(`update event_state set leader = 'first', moved_at = clock_timestamp() + interval '900 milliseconds'`);
  expect(await log.moves.move('second', 10)).toMatchObject({ moved: 0, isLeader: false });
  expect(await log.moves.move('first', 10)).toMatchObject({ moved: 1, isLeader: true });
  expect(await log.sql('select moved_at < clock_timestamp() as "isPast" from event_state')).toEqual([{ isPast: true }]);
  await add('h');
  await log.sql(`update event_state set moved_at = clock_timestamp() - interval '1001 milliseconds'`);
  expect(await log.moves.move('second', 10)).toMatchObject({ moved: 1, isLeader: true });
  expect(await log.moves.move('first', 10)).toMatchObject({ moved: 0, isLeader: false });
});
