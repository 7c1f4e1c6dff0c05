import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

import { expect, it } from '@jest/globals';

import { startCluster } from '../../support/started-cluster.ts';
import { until } from '../../support/until.ts';
import { askOnce, ServiceOfWorkers } from '../../support/workers.ts';

const cluster = await startCluster();
const settings = { DATABASE_URL: cluster.url, DATABASE_POOL: '4', LOG_LEVEL: 'info' };
const maxMillis = 300_000;

/** Opens so many connections that send nothing. */
async function openIdle(port: number, count: number): Promise<Socket[]> {
  const opening = Array.from({ length: count }, async () => {
    const socket = connect(port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve).once('error', resolve));
    return socket.on('error', () => undefined).resume();
  });
  return Promise.all(opening);
}

const isOpen = (socket: Socket): boolean => !socket.destroyed && socket.readable;

it(
  "a neighbour's connections are all served while a client without a key holds half of MAX_CONNECTIONS",
  async () => {
    const service = await ServiceOfWorkers.start({ ...settings, MAX_CONNECTIONS: '200' });
    const held = await openIdle(service.port, 100);
    for (let round = 0; round < 5; round += 1) {
      const asking = Array.from({ length: 90 }, () =>
        askOnce(service.address, '/healthz').catch(() => ({ status: 0 })),
      );
      const statuses = (await Promise.all(asking)).map(({ status }) => status);
      expect(statuses).toEqual(statuses.map(() => 200));
    }
    expect(held.filter(isOpen)).toHaveLength(100);
    for (const socket of held) socket.destroy();
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);

it(
  'beyond MAX_CONNECTIONS of all workers a connection is closed at once, and counted',
  async () => {
    const service = await ServiceOfWorkers.start({ ...settings, MAX_CONNECTIONS: '40' });
    const held = await openIdle(service.port, 50);
    await until(() => held.filter(isOpen).length === 40);
    for (const socket of held.splice(0, 20)) socket.destroy();
    // Until the service has seen that they are closed, this one is refused as well.
    await until(async () =>
      /^petstore_refusals_total\{bound="connections"\} 1\d$/m.test(await service.metrics().catch(() => '')),
    );
    for (const socket of held) socket.destroy();
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);

it(
  'while no worker takes connections, the primary holds half as many as it may have descriptors, and serves them later',
  async () => {
    const service = await ServiceOfWorkers.start(settings, {
      command: 'prlimit --nofile=400:400 node dist/src/main.js',
    });
    const { workers } = service;
    const descriptors = (): number => readdirSync(`/proc/${service.pid}/fd`).length;
    const atRest = descriptors();
    for (const worker of workers) process.kill(worker, 'SIGSTOP');
    const asking = Array.from({ length: 500 }, () => askOnce(service.address, '/healthz').catch(() => ({ status: 0 })));
    const refused = await Promise.race(asking);
    expect(refused.status).toBe(0);
    await until(() => descriptors() >= atRest + 200);
    expect(descriptors()).toBeLessThanOrEqual(atRest + 202);
    for (const worker of workers) process.kill(worker, 'SIGCONT');
    const statuses = (await Promise.all(asking)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(200);
    await until(() => descriptors() === atRest);
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);
