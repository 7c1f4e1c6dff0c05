import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { connect } from '../../support/postgres-client.ts';
import { openEventLog } from './event-log.ts';

type Client = Awaited<ReturnType<typeof connect>>;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const retentionDays = 7;

/** The time as it is, and what the database's clock is ahead of it. */
let time = Math.floor(Date.now() / day) * day;
let aheadMillis = 0;

const log = await openEventLog();
await log.sql('create table test_clock as select now() as at');
await log.sql(`create function test_now() returns timestamptz language sql as 'select at from test_clock'`);
for (const name of ['petstore_move_events', 'petstore_maintain_events']) {
  const [row] = await log.sql('select pg_get_functiondef($1::regproc) as text', [name]);
  await log.sql(String(row?.['text']).replaceAll('clock_timestamp()', 'test_now()'));
}

interface Logged {
  readonly position: string;
  readonly at: number;
}

/** So much time passes; then a change is moved, and the log is maintained, which was last done before it. */
async function change(client: Client, passedMillis: number): Promise<Logged> {
  time += passedMillis;
  await client.query('update test_clock set at = to_timestamp($1::float8 / 1000)', [time + aheadMillis]);
  await client.query(`select petstore_maintain_events('${retentionDays} days', $1)`, [
    `${passedMillis / 1000} seconds`,
  ]);
  await client.query(`insert into categories (name) values ('changed')`);
  await client.query(`select petstore_move_events('suite', 1000)`);
  const { rows } = await client.query<{ readonly position: string }>('select position::text from event_state');
  return { position: rows[0]!.position, at: time };
}

async function keptPositions(client: Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ readonly position: string }>('select position::text from events');
  return new Set(rows.map(({ position }) => position));
}

const dropDays = `do $do$ declare day regclass; begin
  for day in select inhrelid from pg_inherits where inhparent = 'events'::regclass loop
    execute format('drop table %s', day);
  end loop; end $do$`;

/** What passes, and where the clock is from then on. The log is maintained a minute later. */
const step = fc.record({
  hours: fc.integer({ min: 1, max: 60 }),
  aheadHours: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -40 * 24, max: 40 * 24 }) },
    { weight: 1, arbitrary: fc.integer({ min: -72, max: 72 }) },
  ),
});

it('however the clock jumps, forth or back, and for however long: no event is dropped early, or kept beyond its retention', async () => {
  const client = await connect(log.location);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
      aheadMillis = 0;
      await client.query(dropDays);
      await client.query('update event_state set timed_at = to_timestamp($1), log_time = to_timestamp($1)', [
        time / 1000,
      ]);
      let logged: Logged[] = [];
      const check = async (passedMillis: number): Promise<void> => {
        logged.push(await change(client, passedMillis));
        const kept = await keptPositions(client);
        const isKept = ({ position }: Logged): boolean => kept.has(position);
        const isYoung = ({ at }: Logged): boolean => time - at < retentionDays * day;
        // A day is dropped as a whole.
        const isOverdue = ({ at }: Logged): boolean => time - at > (retentionDays + 1) * day + hour;
        expect([
          logged.filter((each) => isYoung(each) && !isKept(each)),
          logged.filter((each) => isOverdue(each) && isKept(each)),
        ]).toEqual([[], []]);
        logged = logged.filter(isKept);
      };
      for (const { hours, aheadHours } of steps) {
        await check(hours * hour);
        aheadMillis = aheadHours * hour;
        await check(minute);
      }
    }),
    { numRuns: 6, endOnFailure: true },
  );
  await client.end();
});

it('while no process runs, the time that passes is what the clock says', async () => {
  const client = await connect(log.location);
  const { position } = await change(client, 0);
  time += (retentionDays + 2) * day;
  await client.query('update test_clock set at = to_timestamp($1::float8 / 1000)', [time + aheadMillis]);
  await client.query(`select petstore_maintain_events('${retentionDays} days')`);
  expect(await keptPositions(client)).not.toContain(position);
  await client.end();
});
