import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { findFreePort } from '../../support/free-port.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import type { Service } from '../../support/service.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { awaitValue, until } from '../../support/until.ts';
import { askOnce, isRunning, ServiceOfWorkers } from '../../support/workers.ts';

const cluster = await startCluster();
const settings = { DATABASE_URL: cluster.url, DATABASE_POOL: '4', LOG_LEVEL: 'info' };
const random = new SeededRandom(68);

/** A worker takes seconds to start on a machine that does other things. */
const maxMillis = 600_000;

const statusOf = async (service: Service, path = '/healthz'): Promise<number> =>
  (await askOnce(service.address, path).catch(() => ({ status: 0 }))).status;

it(
  'kill -9 of the primary ends its workers, and another start listens on the same port',
  async () => {
    const port = String(await findFreePort());
    for (let round = 0; round < 2; round += 1) {
      const service = await ServiceOfWorkers.start({ ...settings, PORT: port });
      const { workers } = service;
      expect(workers).toHaveLength(2);
      const asking = Array.from({ length: 20 }, () => statusOf(service, '/pets'));
      await wait(random.below(30));
      process.kill(service.pid, 'SIGKILL');
      await until(() => !workers.some(isRunning));
      await Promise.all(asking);
    }
  },
  maxMillis,
);

it(
  'a worker that is killed is replaced, and signals to workers end none',
  async () => {
    const service = await ServiceOfWorkers.start(settings);
    const [first, second] = service.workers;
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.kill(first!, signal);
    process.kill(second!, 'SIGKILL');
    await until(() => service.workers.length === 2 && !service.workers.includes(second!));
    // The other one listens.
    await until(async () => (await service.metrics()).includes('\npetstore_workers 2\n'), { maxMillis });
    expect(service.workers).toContain(first);
    expect(await service.metrics()).toContain('\npetstore_worker_restarts_total 1\n');
    expect(service.output).toMatch(/"signal":"SIGKILL","restartMillis":200,"msg":"a worker has ended: another one/);
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);

it(
  'a worker that hangs is killed after ten seconds; its client is reset, and nobody else waits',
  async () => {
    const service = await ServiceOfWorkers.start(settings);
    const [, hung] = service.workers;
    process.kill(hung!, 'SIGSTOP');
    // Their connections stay open: when the other worker has one more than the one that hangs, this one gets the next.
    const asking = Array.from({ length: 8 }, () =>
      service.get('/healthz').then(
        ({ status }) => status,
        () => 0,
      ),
    );
    const statuses = await Promise.all(asking);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([0, 200, 200, 200, 200, 200, 200, 200]);
    await until(() => !isRunning(hung!));
    await service.complete();
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);

it(
  'while the primary is silent, what has to be counted is 503; it goes on when the primary does',
  async () => {
    const service = await ServiceOfWorkers.start(settings);
    const headers = { 'x-api-key': await service.createKey() };
    // These connections stay open.
    await Promise.all(Array.from({ length: 8 }, () => service.get('/pets', headers)));
    process.kill(service.pid, 'SIGSTOP');
    const refused = await service.get('/pets', headers);
    expect([refused.status, refused.headers.get('retry-after'), refused.body.code]).toEqual([503, '5', 'unavailable']);
    expect(refused.headers.get('x-ratelimit-limit')).not.toBeNull();
    process.kill(service.pid, 'SIGCONT');
    await until(async () => (await service.get('/pets', headers)).status === 200);
    expect(service.workers).toHaveLength(2);
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);

it.each(['the primary', 'all processes'])(
  'SIGTERM to %s resets no request of clients that a balancer sends elsewhere within the delay, and ends with 0',
  async (whom) => {
    const service = await ServiceOfWorkers.start({ ...settings, DRAIN_DELAY: '6s' });
    const elsewhere = new AbortController();
    const { workers, pid } = service;
    const failures = new Set<unknown>();
    let served = 0;
    const client = async (ask: () => Promise<{ readonly status: number }>): Promise<void> => {
      for (let isOpen = true; isOpen && !elsewhere.signal.aborted;) {
        try {
          const { status } = await ask();
          if (status === 200) served += 1;
          else failures.add(status);
        } catch (error) {
          const { code, cause } = error as { readonly code?: string; readonly cause?: { readonly code?: string } };
          failures.add(code ?? cause?.code);
          isOpen = false;
        }
      }
    };
    const clients = Array.from({ length: 8 }, (_, n) =>
      client(() => (n % 2 === 0 ? service.get('/healthz') : askOnce(service.address, '/healthz'))),
    );
    await wait(100 + random.below(200));
    for (const each of whom === 'the primary' ? [pid] : [pid, ...workers]) process.kill(each, 'SIGTERM');
    await until(async () => (await statusOf(service, '/readyz')) === 503);
    const before = served;
    await until(() => served >= before + 100 || failures.size > 0);
    // When listening stops, the kernel resets what it hasn't handed over: see `platform/http/drain.ts`.
    elsewhere.abort();
    await Promise.all(clients);
    expect(await service.ended()).toBe(0);
    expect(failures).toEqual(new Set());
    expect(workers.some(isRunning)).toBe(false);
  },
  maxMillis,
);

it(
  'metrics of all processes never go back, whoever ends, and have a port of their own',
  async () => {
    const port = String(await findFreePort());
    const service = await ServiceOfWorkers.start({ ...settings, METRICS_PORT: port });
    const read = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const served = 'petstore_requests_total{operation="GET /healthz",status="200"}';
    let last = countedIn(await read());
    for (let round = 1; round <= 4; round += 1) {
      await Promise.all(Array.from({ length: 20 }, () => statusOf(service)));
      // Beyond a budget of time the last text is sent again.
      const now = await awaitValue(
        async () => countedIn(await read()),
        (counted) => counted.get(served) === 20 * round,
        { everyMillis: 1_000, maxMillis: 120_000 },
      );
      expect([...last].filter(([name, value]) => (now.get(name) ?? 0) < value)).toEqual([]);
      last = now;
      await service.killWorker(random.oneOf(service.workers));
      await service.complete();
    }
    // As any path that there isn't.
    expect(await statusOf(service, '/metrics')).toBe(401);
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);

/** The values of counters and histograms in Prometheus' text, but not those of one event loop. */
function countedIn(text: string): Map<string, number> {
  const counted = new Set([...text.matchAll(/^# TYPE (\S+) (?:counter|histogram)$/gm)].map(([, name]) => name));
  const lines = [...text.matchAll(/^(\w+)(\{[^}]*\})? ([\d.e+-]+)$/gm)];
  return new Map(
    lines
      .filter(([, name = '']) => counted.has(name) || counted.has(name.replace(/_(?:bucket|sum|count)$/, '')))
      .map(([, name, labels = '', value]) => [`${name}${labels}`, Number(value)]),
  );
}
