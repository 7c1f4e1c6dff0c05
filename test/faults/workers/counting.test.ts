import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { eventStream, openStream } from '../../graphql/streams/stream-client.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { until } from '../../support/until.ts';
import { type AgentResponse, askOnce, isRunning, openUnread, ServiceOfWorkers } from '../../support/workers.ts';

const cluster = await startCluster();
const service = await ServiceOfWorkers.start({
  DATABASE_URL: cluster.url,
  DATABASE_POOL: '4',
  LOG_LEVEL: 'info',
  BAN_AFTER: '5',
});
const random = new SeededRandom(67);

/** Each death starts a worker, which takes seconds on a machine that does other things. */
const maxMillis = 600_000;

const ask = (key: string, n: number): Promise<AgentResponse> =>
  n % 2 === 0
    ? askOnce(service.address, '/pets?id=1', { headers: { 'x-api-key': key } })
    : askOnce(service.address, '/graphql', {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: '{"query":"{ a: pet(id: 1) { id } }"}',
      });

/** The statuses of so many requests at once, each on a connection of its own; 0 for one that was reset. */
function statusesOf(key: string, count: number): Promise<number[]> {
  const asking = Array.from({ length: count }, (_, n) =>
    ask(key, n)
      .then(({ status }) => status)
      .catch(() => 0),
  );
  return Promise.all(asking);
}

const countOf = (statuses: readonly number[], wanted: number): number =>
  statuses.filter((status) => status === wanted).length;

const killOne = (): Promise<void> => service.killWorker(random.oneOf(service.workers));

it(
  'of 100 requests at once to both workers, exactly 60 of a Free key are admitted, 20 times of 20',
  async () => {
    for (let round = 0; round < 20; round += 1) {
      const key = await service.createKey('plan: FREE');
      const statuses = await statusesOf(key, 100);
      expect([countOf(statuses, 200), countOf(statuses, 429)]).toEqual([60, 40]);
    }
  },
  maxMillis,
);

it(
  'with a death between them it is exactly 60, too, 20 times of 20',
  async () => {
    for (let round = 0; round < 20; round += 1) {
      const key = await service.createKey('plan: FREE');
      const first = 1 + random.below(50);
      expect(countOf(await statusesOf(key, first), 200)).toBe(first);
      await killOne();
      expect(first + countOf(await statusesOf(key, 100), 200)).toBe(60);
      await service.complete();
    }
  },
  maxMillis,
);

it(
  'a worker that is killed under load takes nothing back: never more than 60 are admitted, and no client waits for ever',
  async () => {
    for (let round = 0; round < 5; round += 1) {
      const key = await service.createKey('plan: FREE');
      const asking = statusesOf(key, 100);
      await wait(random.below(40));
      await killOne();
      const statuses = [...(await asking), ...(await statusesOf(key, 60))];
      expect(countOf(statuses, 200)).toBeLessThanOrEqual(60);
      // Of those that were reset, some may have been counted.
      expect(countOf(statuses, 200) + countOf(statuses, 0)).toBeGreaterThanOrEqual(60);
      await service.complete();
    }
  },
  maxMillis,
);

it(
  'a ban holds in every worker, and in one that is started after it',
  async () => {
    const key = await service.createKey('plan: FREE');
    await statusesOf(key, 61);
    await until(async () => (await statusesOf(key, 4)).includes(403), { everyMillis: 200 });
    expect(new Set(await statusesOf(key, 6))).toEqual(new Set([403]));
    await killOne();
    await service.complete();
    expect(new Set(await statusesOf(key, 6))).toEqual(new Set([403]));
  },
  maxMillis,
);

it(
  'the event streams of a key are counted in all workers together, and those of a killed one are free again',
  async () => {
    const key = await service.createKey('plan: PRO');
    const open = () => openStream(service.address, key, { query: 'subscription { events { id } }' }, eventStream);
    const streams = await Promise.all(Array.from({ length: 9 }, open));
    expect(streams.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 200, 200, 200, 200, 429, 429, 429, 429,
    ]);
    const { workers } = service;
    for (const worker of workers) process.kill(worker, 'SIGKILL');
    await until(() => !workers.some(isRunning));
    await until(() => streams.every((stream) => stream.status !== 200 || stream.isEnded()));
    await service.complete();
    const again = await Promise.all(Array.from({ length: 5 }, open));
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const stream of again) stream.close();
  },
  maxMillis,
);

it(
  'the whole collections of a key are counted in all workers together, and those of a killed one are free again',
  async () => {
    // More than the buffers between two programs hold.
    await cluster.sql(`begin; set local session_replication_role = replica;
      insert into categories (id, name, description) select n, n, repeat('x', 2000) from generate_series(1, 15000) n;
      commit`);
    const key = await service.createKey('plan: PRO');
    const open = () => openUnread(service.address, '/categories', key);
    const readers = await Promise.all(Array.from({ length: 8 }, open));
    const statuses = readers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
    const { workers } = service;
    for (const worker of workers) process.kill(worker, 'SIGKILL');
    await until(() => !workers.some(isRunning));
    await service.complete();
    const again = await Promise.all([open(), open(), open()]);
    expect(again.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
    for (const reader of [...readers, ...again]) reader.close();
    await until(async () => {
      const reader = await open();
      reader.close();
      return reader.status === 200;
    });
  },
  maxMillis,
);

it(
  'what keys have spent of their day is saved by the workers for the primary, which opens no database',
  async () => {
    const key = await service.createKey('plan: PRO');
    expect(countOf(await statusesOf(key, 40), 200)).toBe(40);
    await until(async () => {
      const rows = await cluster.sql('select day_spent from api_key_usage order by last_used_at desc limit 1');
      return Number(rows[0]?.['day_spent']) >= 40;
    });
  },
  maxMillis,
);
