import { expect, it } from '@jest/globals';

import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { listenHere } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

const cluster = await startCluster();

/** Of ten connections four are pipelined; a key has half of the others. */
const ofKey = 3;

const service = await listenHere({ DATABASE_URL: cluster.url, DATABASE_POOL: '10' });
const holder = await connect(cluster.url);
await cluster.sql(
  `insert into categories (name) values ('Locked'), ('Locked'), ('Locked'), ('Locked'), ('Free'), ('Free'), ('Free'), ('Free');
   create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(10); return new; end $$;
   create trigger slow before update on categories for each row when (new.name = 'Slow') execute function slow()`,
);
await holder.query('begin; update categories set name = name where id < 5');

const rename = async (id: number, name = 'New') => {
  const { status, body, millis } = await service.patch(`/categories/${id}`, { name });
  return { status, message: String(body.message ?? ''), millis };
};

/** All connections of the key wait for a lock, for so long. */
const areWaiting = async (seconds = 0): Promise<boolean> => {
  const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and clock_timestamp() - query_start >= make_interval(secs => $1)`;
  return (await cluster.sql(waits, [seconds])).length === ofKey;
};

it("a request waits for one of its key's connections, and then for a lock, 2 s in all, and is told for what it waited last", async () => {
  const first = [1, 2, 3].map((id) => rename(id));
  await until(() => areWaiting(1));
  const second = [rename(4), rename(5)];
  for (const { status, message } of await Promise.all(first))
    expect([status, message]).toEqual([503, expect.stringContaining("for a row's lock")]);
  const [locked, free] = await Promise.all(second);
  expect([locked?.status, locked?.message]).toEqual([503, expect.stringContaining("for a row's lock")]);
  // It has waited for a connection for one second, so one is left for the lock, not two. (Before it took 3.6 s.)
  expect(locked?.millis).toBeLessThan(2_900);
  expect(free?.status).toBe(200);
});

it('so does a read, whose table is locked', async () => {
  const locker = await connect(cluster.url);
  await locker.query('begin; lock table orders in access exclusive mode');
  const count = () => service.graphql('{ orders { totalCount } }');
  const first = [count(), count(), count()];
  await until(() => areWaiting(1));
  const { body, millis } = await count();
  await locker.query('rollback');
  expect(body.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  expect(millis).toBeLessThan(2_900);
  await Promise.all(first);
});

it("a request that gets none of its key's connections in time is told so", async () => {
  const outcomes = await Promise.all([5, 6, 7, 8].map((id) => rename(id, 'Slow')));
  expect(outcomes.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  const messages = outcomes.map(({ message }) => message);
  expect(messages.filter((each) => each.includes("for one of your key's 3 database connections"))).toHaveLength(1);
  expect(messages.filter((each) => each.includes('has taken the database too long'))).toHaveLength(3);
});

it('a mutation whose first field has waited in vain carries out the next one, which needs no wait', async () => {
  const field = (id: number) => `c${id}: updateCategory(input: { id: ${id}, name: "New" }) { category { id } }`;
  const { body, millis } = await service.graphql(`mutation { ${field(1)} ${field(2)} ${field(5)} }`);
  expect(body.data).toEqual({ c1: null, c2: null, c5: { category: { id: '5' } } });
  expect(millis).toBeLessThan(5_000);
});
