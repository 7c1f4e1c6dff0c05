import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';
import type pg from 'pg';

import { DomainError } from '../../../src/domain/errors.ts';
import type { EventPosition, StoreEvent } from '../../../src/domain/events/event.ts';
import type { EventMoves } from '../../../src/platform/feed/sequencer.ts';
import { Sequencer } from '../../../src/platform/feed/sequencer.ts';
import { atEnd } from '../../support/at-end.ts';
import { emptyStore } from '../../support/empty-store.ts';
import { connect } from '../../support/postgres-client.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { until } from '../../support/until.ts';
import { openEventLog, waiting } from './event-log.ts';

/**
 * Random transactions: some are held open, some rolled back, some killed, while two sequencers move and readers read.
 *
 * Each change of an object adds 1 to a number in it, under its row's lock. So the events of an object must have the
 * numbers 0, 1, 2, … up to its state: anything that is missing, twice, or not in the order of the commits shows.
 */
const isServer = Boolean(process.env['TEST_DATABASE_URL']);
/** The embedded database serves one transaction at a time. */
const writers = isServer ? 6 : 1;
const transactionsEach = isServer ? 60 : 80;
const objects = 6;
/** `EVENTS_SEEDS=20` is the long form. */
const firstSeed = Number(process.env['EVENTS_SEED'] ?? Date.now() % 1_000_000);
const seeds = Array.from({ length: Number(process.env['EVENTS_SEEDS'] ?? 1) }, (_, index) => firstSeed + index);

const sequencers: Sequencer[] = [];
const failures: unknown[] = [];

const log = await openEventLog();
for (let count = 0; count < 2; count += 1) {
  const sequencer = new Sequencer({
    // One takes what it finds, the other some at a time, by way of the backlog.
    moves: count === 0 ? log.moves : inPieces(log.moves, 5),
    retentionSeconds: 86_400,
    onMoved: () => undefined,
    onFailure: (_what, error) => failures.push(error),
  });
  sequencers.push(sequencer);
  sequencer.start();
}
atEnd(() => Promise.all(sequencers.map((each) => each.stop())));

function inPieces(moves: EventMoves, limit: number): EventMoves {
  return {
    ...moves,
    move: async (id) => {
      let last = await moves.move(id, limit);
      while (last.moved >= limit) last = await moves.move(id, limit);
      return last;
    },
  };
}

type Random = (below: number) => number;

function randomOf(start: number): Random {
  const random = new SeededRandom(start);
  return (below) => random.below(below);
}

function statementOf(random: Random): string {
  const id = 1 + random(objects);
  const some = `id in (select id from pets order by id limit ${1 + random(3)} offset ${random(objects)})`;
  return [
    `update categories set name = (name::int + 1)::text where id = ${id}`,
    `update categories set name = (name::int + 1)::text where id between ${id} and ${id + 2}`,
    `update categories set name = name where id = ${id}`,
    `update pets set name = (name::int + 1)::text where ${some}`,
    `update pets set name = (name::int + 1)::text, status = (array['available', 'pending', 'sold'])[1 + ${random(3)}] where ${some}`,
    `update inventory set quantity = quantity + 1 where pet_id in (select pet_id from inventory order by pet_id limit 2 offset ${random(objects)})`,
    `with pets as (insert into pets (name, category_id) values ('0', ${id}) returning *)
      insert into inventory (pet_id, quantity) select id, 0 from pets`,
    `delete from pets where ${some} and not exists (select from orders where pet_id = pets.id)`,
    `insert into orders (pet_id, quantity) select id, 1 from pets order by id limit 1 offset ${random(objects)}`,
    `update orders set quantity = quantity + 1 where id = (select max(id) from orders)`,
    `delete from orders where id in (select id from orders order by id limit 2)`,
  ][random(11)]!;
}

async function write(random: Random): Promise<void> {
  let client: pg.Client | undefined;
  for (let count = 0; count < transactionsEach; count += 1) {
    client ??= await connect(log.location);
    try {
      await client.query('begin');
      for (let statements = 1 + random(4); statements > 0; statements -= 1) {
        if (random(8) === 0) {
          await client.query(`savepoint s; ${statementOf(random)}; rollback to s`);
        } else await client.query(statementOf(random));
        if (isServer && random(6) === 0) await wait(random(300));
      }
      const end = random(12);
      if (end === 0 && isServer) {
        // As a process does that is killed; sometimes the commit is on its way.
        if (random(2) === 0) client.query('commit').catch(() => undefined);
        client.connection.stream.destroy();
        client = undefined;
      } else await client.query(end <= 2 ? 'rollback' : 'commit');
    } catch {
      // A deadlock, or a pet that got an order meanwhile.
      await client?.query('rollback');
    }
  }
  await client?.end();
}

/** Reads until the end, in pages of random sizes, a few of them from further back. */
async function readAll(random: Random, isOver: () => boolean): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  for (;;) {
    const wasOver = isOver();
    const back = Math.min(events.length, random(20) === 0 ? random(30) : 0);
    const from = events.at(-1 - back)?.position ?? beginning;
    const page = await log.stores.events.readAfter(from, 1 + random(50) + back);
    if (!page.isKnown) throw new Error('A position was lost.');
    expect(page.events.slice(0, back)).toEqual(back === 0 ? [] : events.slice(-back));
    events.push(...page.events.slice(back));
    if (wasOver && page.events.length === back) return events;
    await wait(random(50));
  }
}

let beginning: EventPosition;

it.each(seeds)(
  'readers miss nothing, see nothing twice, and see each object in the order of its commits (EVENTS_SEED=%i)',
  async (seed) => {
    await emptyStore(log);
    await until(async () => (await log.sql(waiting)).length === 0);
    beginning = await log.stores.events.last();
    await log.sql(`insert into categories (name) select '0' from generate_series(1, ${objects + 3});
    with pets as (insert into pets (name, category_id) select '0', n from generate_series(1, ${objects}) as n returning *)
      insert into inventory (pet_id, quantity) select id, 0 from pets`);
    let isOver = false;
    const readers = [1, 2, 3].map((n) => readAll(randomOf(seed + n), () => isOver));
    try {
      await Promise.all(Array.from({ length: writers }, (_, n) => write(randomOf(seed + 100 + n))));
      // What was killed may still end.
      await until(async () => {
        const [left] = await log.sql(`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and state like 'idle in%'`);
        return left?.['count'] === 0;
      });
      await until(async () => (await log.sql(waiting)).length === 0);
    } finally {
      isOver = true;
    }
    const [events, ...others] = (await Promise.all(readers)) as [StoreEvent[], ...StoreEvent[][]];
    for (const other of others) expect(other).toEqual(events);
    expect(await log.readAfter(beginning)).toEqual(events);
    expect(events.length).toBeGreaterThan(100);
    expect(brokenSequences(events)).toEqual([]);
    expect(mirrorOf(events)).toEqual(await storeNow());
    // On a busy machine a connection may take too long: the next run goes on.
    expect(failures.filter((error) => !(error instanceof DomainError && error.code === 'UNAVAILABLE'))).toEqual([]);
    if (seeds.length > 1) console.info({ seed, transactions: writers * transactionsEach, events: events.length });
  },
);

/** The events whose numbers aren't 0, 1, 2, … */
function brokenSequences(events: readonly StoreEvent[]): string[] {
  const broken: string[] = [];
  const next = new Map<string, number>();
  for (const { type, subject } of events) {
    if (subject === undefined) throw new Error('No transaction has asked for a resynchronization.');
    const { noun, row } = subject;
    const key = `${noun} ${noun === 'inventory' ? row.petId : row.id}`;
    const isLast = /deleted|cancelled/.test(type);
    const number =
      noun === 'inventory' || noun === 'order' ? Number(row.quantity) - (noun === 'order' ? 1 : 0) : Number(row.name);
    const expected = next.get(key) ?? 0;
    // An entry has an event of the same number when only its pet's status changes.
    const isRight = number === expected - 1 ? isLast || noun === 'inventory' : number === expected && !isLast;
    if (!isRight || (expected === 0) !== type.endsWith('created'))
      broken.push(`${type} ${key}: ${number}, not ${expected}`);
    next.set(key, Math.max(expected, number + 1));
    if (isLast) next.set(key, Number.NaN);
  }
  return broken;
}

/** What a client has that applies every event. */
function mirrorOf(events: readonly StoreEvent[]): Record<string, unknown> {
  const mirror = new Map<string, unknown>();
  for (const { type, subject } of events) {
    const { noun, row } = subject!;
    const key = `${noun} ${noun === 'inventory' ? row.petId : row.id}`;
    if (/deleted|cancelled/.test(type)) mirror.delete(key);
    else mirror.set(key, JSON.parse(JSON.stringify(row, (_, value: unknown) => value ?? undefined)));
  }
  return Object.fromEntries([...mirror].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function storeNow(): Promise<Record<string, unknown>> {
  const rows = await log.sql(`
    select 'category ' || id as key, json_strip_nulls(json_build_object('id', id::text, 'name', name, 'description', description)) as row from categories
    union all
    select 'pet ' || id, json_build_object('id', id::text, 'name', name, 'status', status, 'categoryId', category_id::text) from pets
    union all
    select 'order ' || id, json_strip_nulls(json_build_object('id', id::text, 'petId', pet_id::text, 'quantity', quantity, 'complete', complete))
    from orders
    union all
    select 'inventory ' || pet_id, json_build_object('petId', pet_id::text, 'quantity', inventory.quantity, 'status', status)
    from inventory join pets on pets.id = pet_id
    order by 1`);
  return Object.fromEntries(rows.map(({ key, row }) => [key, row]));
}
