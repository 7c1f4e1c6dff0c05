import { expect, it } from '@jest/globals';

import { RedisServer } from '../../redis/redis-server.ts';
import { Service } from '../../support/service.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { until } from '../../support/until.ts';
import { askOnce, ServiceOfWorkers } from '../../support/workers.ts';

const maxMillis = 300_000;

const [cluster, redis] = await Promise.all([startCluster(), RedisServer.start()]);
const settings = {
  DATABASE_URL: cluster.url,
  DATABASE_POOL: '4',
  REDIS_URL: redis.url,
  BAN_AFTER: '0',
  LOG_LEVEL: 'info',
};
const service = await ServiceOfWorkers.start(settings);
const other = await Service.start(settings);

/** How many of so many requests at once are admitted, a third of them by the other process; the others are 429. */
async function admitted(key: string, count: number): Promise<number> {
  const headers = { 'x-api-key': key };
  const asking = Array.from({ length: count }, (_, n) =>
    askOnce(n % 3 === 0 ? other.address : service.address, '/pets?id=1', { headers }),
  );
  const statuses = (await Promise.all(asking)).map(({ status }) => status);
  const isAdmitted = (status: number): boolean => status === 200;
  expect(statuses.filter((status) => !isAdmitted(status) && status !== 429)).toEqual([]);
  return statuses.filter(isAdmitted).length;
}

const isShared = async (shared: 0 | 1): Promise<boolean> =>
  (await service.metrics()).includes(`\npetstore_quota_shared ${shared}\n`);

it(
  'workers with REDIS_URL share exact quotas with another process; without Redis each of the three counts alone',
  async () => {
    for (let round = 0; round < 5; round += 1)
      expect(await admitted(await service.createKey('plan: FREE'), 100)).toBe(60);

    const key = await service.createKey('plan: FREE');
    expect(await admitted(key, 30)).toBe(30);
    await redis.kill();
    const alone = await admitted(key, 300);
    // What each has seen last is spent.
    expect(alone).toBeGreaterThanOrEqual(30);
    expect(alone).toBeLessThanOrEqual(3 * 60 - 30);
    await until(() => isShared(0), { maxMillis: 60_000, everyMillis: 500 });
    await redis.restart();
    await until(() => isShared(1), { maxMillis: 60_000, everyMillis: 500 });
    expect(await admitted(await service.createKey('plan: FREE'), 100)).toBe(60);
  },
  maxMillis,
);
