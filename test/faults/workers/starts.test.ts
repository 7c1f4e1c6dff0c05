import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { spawnChild } from '../../support/child-process.ts';
import { findFreePort } from '../../support/free-port.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { Service } from '../../support/service.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { until } from '../../support/until.ts';
import { isRunning, ServiceOfWorkers } from '../../support/workers.ts';

const cluster = await startCluster();
const settings = { DATABASE_URL: cluster.url, DATABASE_POOL: '4', LOG_LEVEL: 'info' };
const random = new SeededRandom(75);

/** A worker takes seconds to start on a machine that does other things. */
const maxMillis = 600_000;

/** Runs before the program. */
const preloaded = (program: string): string => `--import=data:text/javascript,${encodeURIComponent(program)}`;

/** Its workers take so long to load their modules, in one tick. */
const slowWorkers = (millis: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: preloaded(
    `if(process.argv[2]==='worker')Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0,${millis})`,
  ),
});

const taken = createServer().listen(0, '127.0.0.1').unref();
await once(taken, 'listening');
const { port: takenPort } = taken.address() as AddressInfo;
const freePort = await findFreePort();

it.each([
  ['a wrong setting', { BAN_FOR: '3y' }],
  ['a taken port', { PORT: String(takenPort) }],
  ['a taken port of the metrics', { METRICS_PORT: String(takenPort) }],
  ['a database that refuses', { DATABASE_URL: `postgresql://127.0.0.1:${freePort}/petstore` }],
  ['a database that there is not', { DATABASE_URL: cluster.url.replace(/\/[^/]*$/, '/nothing') }],
  ['documents that there are not', { GRAPHQL_DOCUMENTS: '/nowhere.json' }],
])(
  '%s ends the start of several processes as that of one, with the same words',
  async (_, setting) => {
    const outcome = async (workers: string): Promise<unknown[]> => {
      const service = new Service({ ...settings, LOG_LEVEL: 'silent', WORKERS: workers, ...setting });
      return [await service.ended(), service.output];
    };
    const [code, words] = await outcome('1');
    expect(code).toBe(1);
    expect(await outcome('2')).toEqual([code, words]);
  },
  maxMillis,
);

it(
  'what one process says of its settings is said while the modules of a worker would still load',
  async () => {
    const service = new Service({ ...settings, ...slowWorkers(maxMillis), WORKERS: '2', PORT: String(takenPort) });
    expect(await service.ended()).toBe(1);
    expect(service.output).toContain('PORT is');
  },
  maxMillis,
);

// Begins before the other tests, which run meanwhile.
const slowService = ServiceOfWorkers.start({ ...settings, ...slowWorkers(65_000) });

it(
  'workers that take longer than a minute to load their modules serve',
  async () => {
    const service = await slowService;
    expect((await service.get('/healthz')).status).toBe(200);
    expect(service.output).not.toContain('a worker has ended');
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);

it(
  'five workers in a row that end before one has served end the start, with the last reason',
  async () => {
    const program = "if(process.argv[2]==='worker')process.exit(7)";
    const service = new Service({ ...settings, WORKERS: '2', NODE_OPTIONS: preloaded(program) });
    expect(await service.ended()).toBe(1);
    expect(service.output.match(/"code":7,.*"a worker has ended/g)).toHaveLength(5);
    expect(service.output).toMatch(/^petstore-gateway can't start: the first worker has ended with 7$/m);
  },
  maxMillis,
);

it(
  'SIGTERM at any moment of a start ends all of it, with 0, while other programs want the processors',
  async () => {
    const others = [1, 2].map(() => spawnChild(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
    const begins = { NODE_OPTIONS: preloaded("process.argv[2]||console.error('begins')") };
    const ends: unknown[] = [];
    for (let round = 0; round < 16; round += 1) {
      const service = new ServiceOfWorkers({ ...settings, ...begins, WORKERS: '2' });
      await service.line(/^begins$/);
      await wait(300 + random.below(round % 2 === 0 ? 700 : 6_000));
      const { workers } = service;
      ends.push(await service.stop());
      expect(workers.some(isRunning)).toBe(false);
    }
    for (const other of others) other.kill('SIGKILL');
    expect(ends).toEqual(ends.map(() => 0));
  },
  maxMillis,
);

/** The system refuses the process further descriptors, from so many on. */
async function limitDescriptors(pid: number, most: number): Promise<void> {
  const [code] = await once(spawnChild('prlimit', [`--pid=${pid}`, `--nofile=${most}:`]), 'exit');
  expect(code).toBe(0);
}

it(
  'a worker that cannot be started ten times in a row is started when it can, and nothing else ends',
  async () => {
    const service = await ServiceOfWorkers.start(settings);
    const [killed, other] = service.workers;
    await limitDescriptors(service.pid, 20);
    process.kill(killed!, 'SIGKILL');
    // The primary has no descriptor for a connection either.
    const flood = (): void => {
      for (let count = 0; count < 50; count += 1) {
        const socket = connect(service.port, '127.0.0.1');
        socket.on('error', () => undefined).setTimeout(500, () => socket.destroy());
      }
    };
    const failed = (): number => service.output.split('"a worker could not be started').length - 1;
    await until(
      () => {
        flood();
        return failed() >= 10;
      },
      { maxMillis, everyMillis: 500 },
    );
    expect(service.workers).toEqual([other]);
    expect(service.output).toMatch(/EMFILE[^\n]*"a worker could not be started/);
    await limitDescriptors(service.pid, 1_000);
    // The last of the flood is being closed.
    const metrics = (): Promise<string> => service.metrics().catch(() => '');
    await until(async () => (await metrics()).includes('\npetstore_workers 2\n'), { maxMillis, everyMillis: 500 });
    expect((await service.get('/healthz')).status).toBe(200);
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);
