import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { atEnd } from '../../support/at-end.ts';
import { PostgresCluster } from '../../support/postgres-cluster.ts';
import { Service } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { History } from '../history.ts';
import { bytes, flushed, named, readsBy, replayed, set } from '../standbys.ts';

/** How long the history goes on, at least. */
const seconds = Number(process.env['REPLICAS_SECONDS'] ?? 300);

let primary = await PostgresCluster.create();
/** Takes the primary's place next. */
let heir = await primary.addStandby();
/** No process writes there, whatever it is. */
const third = await primary.addStandby();
atEnd(() => [third, heir, primary].forEach((server) => server.remove()));

const settings = {
  DATABASE_URL: `postgresql://postgres:petstore@${named(primary, heir)}/postgres`,
  DATABASE_REPLICAS: named(primary, heir, third),
  LOG_LEVEL: 'warn',
};
const services: [Service, Service] = [await Service.start(settings), await Service.start(settings)];
atEnd(() => Promise.all(services.map((service) => service.stop())));
const history = await History.begin(services);
atEnd(() => history.stop());

/** So many more reads were compared, whoever has served them. */
async function compared(reads: number): Promise<void> {
  const before = history.compared;
  await until(() => history.compared > before + reads);
}

async function serves(standby: PostgresCluster): Promise<void> {
  const before = await readsBy(services, named(standby), 'fresh');
  await until(async () => (await readsBy(services, named(standby), 'fresh')) > before + 50);
}

type Step = (standby: PostgresCluster, round: number) => Promise<void>;

/** What happens to a standby, or to a process, and is over before the next. */
const steps: Readonly<Record<string, Step>> = {
  'replay is paused': async (standby) => {
    await standby.sql('select pg_wal_replay_pause()');
    await compared(1000);
    await standby.sql('select pg_wal_replay_resume()');
  },
  'replay is delayed, by 5 to 100 ms': async (standby, round) => {
    await set(standby, `set recovery_min_apply_delay = '${5 + ((round * 19) % 96)}ms'`);
    await compared(2000);
    await set(standby, 'reset recovery_min_apply_delay');
  },
  'it hangs': async (standby) => {
    standby.pause();
    await compared(1000);
    standby.resume();
  },
  'it is killed': async (standby) => {
    standby.stop();
    await compared(1000);
    standby.start();
  },
  'a process stops for seconds': async (_, round) => {
    const service = services[round % services.length]!;
    service.signal('SIGSTOP');
    await wait(1000 + 500 * (round % 4));
    service.signal('SIGCONT');
    await compared(1000);
  },
};

/** Beside a primary that goes on. */
async function promoteThird(): Promise<void> {
  third.promote();
  await third.sql(`update categories set name = id || ' 0'`);
  await compared(1000);
  third.stop();
  third.follow(primary);
}

/** The third has what the heir misses: its log is ahead of the new primary's, on the old time line. */
async function failOver(): Promise<void> {
  await history.stop();
  const all = await bytes(primary, flushed);
  await until(async () => (await bytes(heir, replayed)) >= all);
  heir.stop();
  await primary.sql(`insert into categories (name) select 'Lost ' || n from generate_series(1, 5000) as n`);
  const end = await bytes(primary, flushed);
  await until(async () => (await bytes(third, replayed)) >= end);
  primary.stop();
  heir.start();
  heir.promote();
  expect(await bytes(third, replayed)).toBeGreaterThan(await bytes(heir, flushed));
  history.start();
  await compared(1000);
  third.stop();
  for (const server of [third, primary]) server.follow(heir);
  [primary, heir] = [heir, primary];
}

it(
  'reads nothing older than what was acknowledged before, whatever happens to standbys',
  async () => {
    const started = performance.now();
    const events: string[] = [];
    const passed = async (event: string, ...standbys: readonly PostgresCluster[]): Promise<void> => {
      await Promise.all(standbys.map(serves));
      expect({ event, stale: history.stale }).toEqual({ event, stale: [] });
      events.push(event);
    };
    history.start();
    for (let round = 0; performance.now() - started < seconds * 1000; round += 1) {
      for (const [event, step] of Object.entries(steps)) {
        const standby = round % 2 === 0 ? heir : third;
        await step(standby, round);
        await passed(event, standby);
      }
      await promoteThird();
      await passed('it is promoted', third);
      await failOver();
      await passed('the primary fails, and a standby is ahead of the next', heir, third);
    }
    await history.stop();
    expect([...history.refusals].filter((status) => status !== 503)).toEqual([]);
    const counts = Object.entries(Object.groupBy(events, (event) => event)).map(
      ([event, all]) => `${all?.length} × ${event}`,
    );
    const byReplicas = await Promise.all(
      [primary, heir, third].map((server) => readsBy(services, named(server), 'fresh')),
    );
    const byPrimary = await readsBy(services, 'primary');
    console.log(
      `${history.compared} values compared; ${byReplicas.join(', ')} reads on replicas, ${byPrimary} on the primary; ${counts.join(', ')}`,
    );
  },
  (seconds + 120) * 1000,
);
