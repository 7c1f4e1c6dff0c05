import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { StoreEvent } from '../../../src/domain/events/event.ts';
import { atEnd } from '../../support/at-end.ts';
import { connect } from '../../support/postgres-client.ts';
import { serverUrl } from '../../support/template-database.ts';
import { until } from '../../support/until.ts';
import { openEventLog, waiting } from './event-log.ts';

/*
 * Pets are deleted while changes of their entries wait, and while a run of the sequencer is between its statements, which
 * it is as long as the test likes: it waits for an advisory lock when it has filled the backlog. (The embedded database
 * serves one at a time.)
 */
const seed = Number(process.env['EVENTS_SEED'] ?? Date.now() % 2 ** 31);
const isServer = serverUrl() !== undefined;
const pets = 40;

const log = await openEventLog();
const holder = await connect(log.location);
atEnd(() => holder.end());
if (isServer) {
  await log.sql(`create function wait_for_the_test() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
    create trigger wait_for_the_test after insert on event_backlog for each statement execute function wait_for_the_test()`);
}

const id = fc.integer({ min: 1, max: pets });
const change = fc.oneof(
  { weight: 4, arbitrary: id.map((n) => `update inventory set quantity = quantity + 1 where pet_id = ${n}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(id, fc.constantFrom('available', 'pending', 'sold'))
      .map(([n, status]) => `update pets set status = '${status}' where id = ${n}`),
  },
  { weight: 2, arbitrary: id.map((n) => `delete from pets where id = ${n}`) },
  {
    weight: 1,
    arbitrary: id.map(
      (
        n,
      ) => `with p as (insert into pets (id, name, category_id) values (${n}, 'again', 1) on conflict do nothing returning id)
        insert into inventory (pet_id, quantity) select id, 0 from p`,
    ),
  },
);
const round = fc.record({
  before: fc.array(change, { minLength: 10, maxLength: 40 }),
  meanwhile: fc.array(change, { minLength: 1, maxLength: 10 }),
  limit: fc.integer({ min: 1, max: 15 }),
});

/** One run of the sequencer, in the midst of which the work is done. */
async function moveAround(limit: number, work: () => Promise<unknown>): Promise<void> {
  if (!isServer) {
    await work();
    await log.moves.move('suite', limit);
    return;
  }
  await holder.query('select pg_advisory_lock(4711)');
  let isOver = false;
  const move = log.moves.move('suite', limit).finally(() => (isOver = true));
  const waits = `select from pg_locks where locktype = 'advisory' and not granted`;
  await until(async () => isOver || (await log.sql(waits)).length > 0);
  await work();
  await holder.query('select pg_advisory_unlock(4711)');
  await move;
}

/** What is wrong with the events of each entry: each life of it is a creation, all of its quantities, and a deletion. */
function faults(events: readonly StoreEvent[]): string[] {
  const found: string[] = [];
  const quantities = new Map<string, number>();
  for (const { type, subject } of events) {
    if (subject?.noun !== 'inventory') continue;
    const { petId, quantity } = subject.row;
    const last = quantities.get(petId);
    const isRight =
      type === 'inventory.created'
        ? last === undefined && quantity === 0
        : last !== undefined && (quantity === last || (type === 'inventory.updated' && quantity === last + 1));
    if (!isRight) found.push(`${type} ${petId}: ${quantity} after ${last}`);
    if (type === 'inventory.deleted') quantities.delete(petId);
    else quantities.set(petId, quantity);
  }
  return [...found, ...[...quantities.keys()].map((petId) => `${petId} is not deleted`)];
}

it(`no event of an entry is missing, and its last one is its deletion (EVENTS_SEED=${seed})`, async () => {
  await log.sql(`insert into categories (id, name) overriding system value values (1, 'Dogs')`);
  await log.move();
  const before = await log.stores.events.last();
  await log.sql(`insert into pets (id, name, category_id) overriding system value select n, 'P', 1 from generate_series(1, ${pets}) as n;
    insert into inventory (pet_id, quantity) select id, 0 from pets`);
  for (const { before: earlier, meanwhile, limit } of fc.sample(round, { seed, numRuns: 40 })) {
    await log.sql(earlier.join(';'));
    await moveAround(limit, () => log.sql(meanwhile.join(';')));
  }
  await moveAround(10, () => log.sql('delete from pets'));
  await until(async () => {
    await log.moves.move('suite', 10);
    return (await log.sql(waiting)).length === 0;
  });
  expect(faults(await log.readAfter(before))).toEqual([]);
});
