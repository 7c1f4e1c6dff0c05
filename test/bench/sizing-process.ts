import { spawn } from 'node:child_process';

import { createClient } from '@redis/client';

import { connectRedisCounters } from '../../src/platform/quotas/redis-counters.ts';
import { findFreePort } from '../support/free-port.ts';
import { withClient } from '../support/postgres-client.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { fillStore } from './filled-store.ts';
import { load } from './load.ts';
import { cpuMicrosOf, cpuMicrosOfAll } from './measured-process.ts';
import { createKey, root, startService } from './measured-service.ts';
import { workloads } from './workloads.ts';

// What operators plan with: the processor time of service, PostgreSQL and Redis for each request, memory and
// connections of the service, disk for pets, Redis' memory for keys. Bytes for one are megabytes for a million.
// node test/bench/sizing-process.ts [SECONDS] [CONNECTIONS], after `npm run build`

const [seconds = 4, connections = 16] = process.argv.slice(2).map(Number);
const measuredNames = ['G1', 'G2', 'G3V', 'G4', 'R1', 'R2', 'R3', 'R3I', 'U1'];
const countedKeys = 20_000;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const cluster = await PostgresCluster.create();
const redisPort = await findFreePort();
const redis = spawn('redis-server', ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', ''], {
  stdio: 'ignore',
});
const redisUrl = `redis://127.0.0.1:${redisPort}`;
const store = await fillStore(cluster.url, undefined, root);

/** What pets take on disk, with their indexes. */
async function measureDisk(): Promise<void> {
  await withClient(cluster.url, async (client) => {
    await client.query('vacuum analyze');
    const { rows } = await client.query<{ name: string; bytes: number }>(
      `select table_name as name, (pg_total_relation_size(table_name::regclass) / $1::float8) as bytes
        from unnest(array['pets', 'inventory', 'orders']) as table_name`,
      [store.pets],
    );
    print(
      `disk: ${rows.map(({ name, bytes }) => `${name} ${bytes.toFixed(0)} bytes for each of ${store.pets} pets`).join(', ')}`,
    );
  });
}

/** What each workload takes of each server. */
async function measureRequests(): Promise<void> {
  const service = await startService({ DATABASE_URL: cluster.url, REDIS_URL: redisUrl });
  const keys = [await createKey(service.address)];
  const atRest = service.residentMegabytes;
  let from = 1;
  try {
    for (const workload of measuredNames) {
      const job = { addresses: [service.address], requests: 'service' as const, workload, store, connections };
      from += (await load({ ...job, keys, seconds, from })).requests + 1;
      const before = [service.cpuMicros, cpuMicrosOfAll(cluster.pid), cpuMicrosOf(redis.pid!)];
      const { requests, seconds: taken } = await load({ ...job, keys, seconds, from });
      from += requests + 1;
      const after = [service.cpuMicros, cpuMicrosOfAll(cluster.pid), cpuMicrosOf(redis.pid!)];
      const [own, postgres, counting] = after.map((micros, index) => ((micros - before[index]!) / requests).toFixed(0));
      const { title } = workloads.find(({ name }) => name === workload)!;
      print(`| ${title} | ${own} | ${postgres} | ${counting} | ${(requests / taken).toFixed(0)} requests/s`);
    }
    print(
      `memory of the service: ${atRest.toFixed(0)} MB at rest, ${service.residentMegabytes.toFixed(0)} after these`,
    );
    print(`connections of the service: ${await countConnections()}`);
  } finally {
    await service.stop();
  }
}

/** Those that it has open after its requests; at most `DATABASE_POOL`. */
function countConnections(): Promise<number> {
  return withClient(cluster.url, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where application_name = 'petstore-gateway'`,
    );
    return rows[0]!.count;
  });
}

/** What keys take in Redis. */
async function measureKeys(): Promise<void> {
  const client = createClient({ url: redisUrl });
  await client.connect();
  const usedMemory = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
  const emptyBytes = await usedMemory();
  const rules = { banAfter: 100, banForSeconds: 900 };
  const counters = await connectRedisCounters(
    {
      url: redisUrl,
      prefix: 'petstore:quota:sizing',
      rules,
    },
    () => undefined,
  );
  const limits = { requestsPerMinute: 60, requestsPerDay: 1_000 };
  const bans = { epoch: 0, bannedUntil: 0, automaticBans: [] };
  const nothingKnown = { minute: { openedAt: 0, spent: 0 }, day: { openedAt: 0, spent: 0 }, bannedUntil: 0 };
  for (let id = 0; id < countedKeys; id += 1) {
    await counters.decide({ id: String(id), limits, bans, isAnonymous: false }, { needs: 1, spends: 1 }, nothingKnown);
  }
  print(`Redis: ${(((await usedMemory()) - emptyBytes) / countedKeys).toFixed(0)} bytes for each key in use`);
  counters.close();
  client.destroy();
}

try {
  await measureDisk();
  await measureRequests();
  await measureKeys();
} finally {
  redis.kill();
  cluster.remove();
}
