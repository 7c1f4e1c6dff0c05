import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { connect } from '../../support/postgres-client.ts';
import { openEventLog, type EventLog } from './event-log.ts';

type Client = Awaited<ReturnType<typeof connect>>;

const hour = 3_600_000;
const day = 24 * hour;
const retentionDays = 7;

let log: EventLog;
/** The time as it is, and what the database's clock is ahead of it. */
let time = Math.floor(Date.now() / day) * day;
let aheadMillis = 0;

beforeAll(async () => {
  log = await openEventLog();
  await log.sql('create table test_clock as select now() as at');
  await log.sql(`create function test_now() returns timestamptz language sql as 'select at from test_clock'`);
  for (const name of ['petstore_move_events', 'petstore_maintain_events']) {
    const [row] = await log.sql('select pg_get_functiondef($1::regproc) as text', [name]);
    await log.sql(String(row?.['text']).replaceAll('clock_timestamp()', 'test_now()'));
  }
});
afterAll(() => log.close());

interface Logged {
  readonly position: string;
  readonly at: number;
  readonly isByRightClock: boolean;
}

/** A change, moved; then the maintenance, to which a jump forth isn't known yet. */
async function change(client: Client): Promise<Logged> {
  await client.query('update test_clock set at = to_timestamp($1::float8 / 1000)', [time + aheadMillis]);
  await client.query(`insert into categories (name) values ('changed')`);
  await client.query(`select petstore_move_events('suite', 1000)`);
  const { rows } = await client.query<{ readonly position: string }>('select position::text from event_state');
  const settled = new Date(Math.min(time, time + aheadMillis)).toISOString();
  await client.query(`select petstore_maintain_events('${retentionDays} days', $1)`, [settled]);
  return { position: rows[0]!.position, at: time, isByRightClock: aheadMillis === 0 };
}

async function keptPositions(client: Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ readonly position: string }>('select position::text from events');
  return new Set(rows.map(({ position }) => position));
}

const dropDays = `do $do$ declare day regclass; begin
  for day in select inhrelid from pg_inherits where inhparent = 'events'::regclass loop
    execute format('drop table %s', day);
  end loop; end $do$`;

const step = fc.record({
  hours: fc.integer({ min: 24, max: 60 }),
  jumpHours: fc.option(fc.oneof(fc.integer({ min: -40 * 24, max: 40 * 24 }), fc.integer({ min: -30, max: 30 })), {
    freq: 4,
  }),
});

it('a clock that jumps, forth or back, and back again drops no event early, and keeps no later one beyond the retention', async () => {
  const client = await connect(log.location);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), fc.boolean(), async (steps, isOften) => {
      const jumpAt = steps.findIndex(({ jumpHours }) => jumpHours !== null);
      let logged: Logged[] = [];
      await client.query(dropDays);
      const check = async (): Promise<void> => {
        logged.push(await change(client));
        const kept = await keptPositions(client);
        const isKept = ({ position }: Logged): boolean => kept.has(position);
        const lost = logged.filter((each) => time - each.at < retentionDays * day && !isKept(each));
        expect(lost).toEqual([]);
        // A day is dropped as a whole. When the clock is wrong often, which one was right can take longer to tell.
        const overdue = logged.filter(
          (each) => each.isByRightClock && time - each.at > (retentionDays + 2) * day && isKept(each),
        );
        if (aheadMillis === 0 && !isOften) expect(overdue).toEqual([]);
        logged = logged.filter(isKept);
      };
      // Days of a right clock, before it goes wrong.
      for (let days = 0; days < retentionDays; days += 1) {
        time += day;
        await check();
      }
      for (const [index, { hours, jumpHours }] of steps.entries()) {
        time += hours * hour;
        await check();
        if (jumpHours === null || (!isOften && index !== jumpAt)) continue;
        aheadMillis = jumpHours * hour;
        time += hour / 4;
        await check();
        aheadMillis = 0;
        time += hour / 4;
        await check();
      }
    }),
    { numRuns: 4, endOnFailure: true },
  );
  await client.end();
});
