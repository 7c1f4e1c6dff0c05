import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

import { expect, it } from '@jest/globals';

import { startCluster } from '../../support/started-cluster.ts';
import { awaitValue, until } from '../../support/until.ts';
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

/** Over a connection of its own; 0 where it was closed. */
const statusOf = async (service: ServiceOfWorkers): Promise<number> =>
  (await askOnce(service.address, '/healthz').catch(() => ({ status: 0 }))).status;

const isOpen = (socket: Socket): boolean => !socket.destroyed && socket.readable;

it(
  "a neighbour's connections are all served while a client without a key holds half of MAX_CONNECTIONS",
  async () => {
    const service = await ServiceOfWorkers.start({ ...settings, MAX_CONNECTIONS: '200' });
    const held = await openIdle(service.port, 100);
    const askMany = (): Promise<number[]> => Promise.all(Array.from({ length: 90 }, () => statusOf(service)));
    expect(new Set(await askMany())).toEqual(new Set([200]));
    // Their places are free again as soon as the service has seen that they are closed.
    await until(async () => (await askMany()).every((status) => status === 200));
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
    // Until the service has seen that they are closed, these are refused as well.
    let refused = 10;
    const metrics = await awaitValue(
      () => askOnce(service.address, '/metrics').catch(() => void (refused += 1)),
      (response) => response !== undefined,
    );
    expect(metrics!.text).toContain(`\npetstore_refusals_total{bound="connections"} ${refused}\n`);
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
    let refused = 0;
    const asking = Array.from({ length: 500 }, async () => {
      const status = await statusOf(service);
      if (status === 0) refused += 1;
      return status;
    });
    // Two of those that it keeps are those that the workers were handed.
    await until(() => refused >= 500 - 202);
    expect(descriptors()).toBe(atRest + 202);
    for (const worker of workers) process.kill(worker, 'SIGCONT');
    const statuses = await Promise.all(asking);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(200);
    await until(() => descriptors() === atRest);
    expect(await service.stop()).toBe(0);
  },
  maxMillis,
);
