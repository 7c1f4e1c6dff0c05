import { setTimeout as wait } from 'node:timers/promises';

import { afterEach, expect, it } from '@jest/globals';

import { RedisGroup } from '../../redis/redis-group.ts';
import type { RedisServer } from '../../redis/redis-server.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { Service } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { median, printTable } from './outages.ts';

const processes = 3;
const plan = 600;
/** Of all clients of one process together. */
const pauseMillis = 10;

interface Disturbance {
  readonly event: string;
  readonly runs: number;
  readonly begin: (master: RedisServer) => Promise<unknown> | void;
  readonly end: (master: RedisServer) => Promise<unknown> | void;
}

const services: Service[] = [];

afterEach(async () => {
  for (const service of services.splice(0)) await service.kill();
});

async function isShared(service: Service): Promise<boolean> {
  return /^petstore_quota_shared 1$/m.test(await service.metrics());
}

/** Sends to each process all the time; counts by status. */
class Client {
  readonly statuses: Record<number, number> = {};
  /** Of the last responses of each process. */
  readonly #last = new Map<Service, number>();
  #isStopped = false;
  readonly #work: Promise<unknown>;

  constructor(secret: string) {
    this.#work = Promise.all(services.map((service) => this.#send(service, secret)));
  }

  get admitted(): number {
    return this.statuses[200] ?? 0;
  }

  /** Whether each process refuses now. */
  get isRefused(): boolean {
    return services.every((service) => this.#last.get(service) === 429);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  async #send(service: Service, secret: string): Promise<void> {
    while (!this.#isStopped) {
      const { status } = await service.get('/categories', { authorization: `Bearer ${secret}` });
      this.statuses[status] = (this.statuses[status] ?? 0) + 1;
      this.#last.set(service, status);
      await wait(pauseMillis);
    }
  }
}

it('each process admits at most once more than the plan while Redis fails over', async () => {
  const cluster = await startCluster();
  const group = await RedisGroup.start({ replicas: 2 });
  const settings = { DATABASE_URL: cluster.url, REDIS_URL: group.url, BAN_AFTER: '0', LOG_LEVEL: 'warn' };
  while (services.length < processes) services.push(await Service.start(settings));
  const follow = async (old: RedisServer): Promise<unknown> => {
    return old.restart('--replicaof', '127.0.0.1', String((await group.master()).port));
  };
  const disturbances: readonly Disturbance[] = [
    { event: 'none', runs: 1, begin: () => undefined, end: () => undefined },
    { event: 'planned fail-over', runs: 5, begin: () => group.failOver(), end: () => undefined },
    { event: 'kill -9 of the master', runs: 5, begin: (master) => master.kill(), end: follow },
    {
      event: 'SIGSTOP of the master, SIGCONT later',
      runs: 2,
      begin: (master) => master.pause(),
      end: (master) => master.resume(),
    },
  ];
  const rows: (number | string)[][] = [];
  for (const { event, runs, begin, end } of disturbances) {
    const beyond: number[] = [];
    const others: Record<string, number> = {};
    for (let run = 0; run < runs; run += 1) {
      await group.known();
      await until(async () => (await Promise.all(services.map(isShared))).every(Boolean), { maxMillis: 60_000 });
      const client = new Client(
        await services[0]!.createKey(`plan: ENTERPRISE, requestsPerMinute: 1000000, requestsPerDay: ${plan}`),
      );
      await until(() => client.admitted >= plan / 2, { maxMillis: 60_000 });
      const old = await group.master();
      await begin(old);
      if (event !== 'none')
        await until(async () => (await group.master()).port !== old.port, { maxMillis: 60_000, everyMillis: 50 });
      await end(old);
      const isOver = async (): Promise<boolean> =>
        client.isRefused && (await Promise.all(services.map(isShared))).every(Boolean);
      await until(isOver, { maxMillis: 60_000, everyMillis: 50 });
      await client.stop();
      beyond.push(client.admitted - plan);
      for (const [status, count] of Object.entries(client.statuses))
        if (status !== '200' && status !== '429') others[status] = (others[status] ?? 0) + count;
    }
    const most = Math.max(...beyond);
    rows.push([event, runs, median(beyond), most, JSON.stringify(others)]);
    expect(Math.min(...beyond)).toBeGreaterThanOrEqual(0);
    expect(most).toBeLessThanOrEqual(event === 'none' ? 0 : processes * plan);
    expect(others).toEqual({});
  }
  printTable(
    `Redis behind three sentinels, ${processes} processes, a plan of ${plan} requests`,
    ['event', 'runs', 'admitted beyond the plan: p50', 'max', 'statuses but 200 and 429'],
    rows,
  );
}, 900_000);
