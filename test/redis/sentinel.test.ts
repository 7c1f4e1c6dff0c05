import { createServer } from 'node:net';

import { expect, it } from '@jest/globals';

import { explainLostRedis } from '../../src/settings/failed-start.ts';
import { connectRedisCounters } from '../../src/platform/quotas/redis-counters.ts';
import { shownError } from '../../src/platform/shown-error.ts';
import { listen } from '../support/listen.ts';
import { Counting, newKey, optionsFor } from './counting.ts';
import { RedisGroup } from './redis-group.ts';
import { RedisServer } from './redis-server.ts';

const group = await RedisGroup.start();

it.each([
  ['that takes commands from anyone', 0],
  ['that asks for a password', 2],
] as const)('finds the master by a sentinel %s', async (_, sentinel) => {
  const counting = await Counting.open(group.urlOf(sentinel));
  expect(await counting.admitted(70, newKey())).toBe(60);
  expect(counting.changes).toEqual([]);
});

it('does not wait for a sentinel that hangs', async () => {
  group.pauseSentinel(0);
  const counting = await Counting.open(group.url);
  group.resumeSentinel(0);
  expect(await counting.admitted(70, newKey())).toBe(60);
  expect(counting.changes).toEqual([]);
});

it('says what each sentinel has answered when none names a master', async () => {
  const url = group.url.replace(/petstore$/, 'other');
  const connecting = connectRedisCounters(optionsFor(url), () => undefined);
  await expect(connecting).rejects.toThrow(/(The sentinel 127\.0\.0\.1:\d+: no master is called "other"(; |$)){3}/);
});

it.each([
  ['an IPv6 address with its zone', 'fe80::1%eth0', '6379'],
  ['a port that there is not', '127.0.0.1', '99999'],
  ['what is no address', 'a b@c/d?e#f', '6379'],
])('never shows the password when a sentinel names %s', async (_, host, port) => {
  const reply = `*2\r\n$${host.length}\r\n${host}\r\n$${port.length}\r\n${port}\r\n`;
  const sentinel = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => void socket.write(reply));
  });
  const url = `redis+sentinel://user:s3cret-of-redis@127.0.0.1:${await listen(sentinel)}/mymaster`;
  const connecting = connectRedisCounters(optionsFor(url), () => undefined);
  const failure: unknown = await connecting.then(undefined, (error: unknown) => error);
  // In the log, and for people.
  const shown = JSON.stringify(shownError(failure)) + explainLostRedis(url, failure);
  expect(shown).toMatch(/Redis can't be used.*\nUntil it can, this process counts quotas alone;/s);
  expect(shown).not.toContain('s3cret');
});

it('counts on while the master is killed, and together on the next one: each process admits at most once more', async () => {
  const key = newKey(1_000, 100_000);
  const processes = await Counting.openTwo(group.url);
  let admitted = 0;
  for (const process of processes) admitted += await process.admitted(300, key);
  const old = await group.master();
  await old.kill();
  for (const process of processes) admitted += await process.admitted(1_000, key);
  // What the first knew is what it had when the second hadn't begun.
  expect(admitted).toBe(600 + 700 + 400);

  await Promise.all(processes.map((process) => process.shared(true)));
  expect((await group.master()).port).not.toBe(old.port);
  for (const process of processes) expect(await process.admitted(1_000, key)).toBe(0);
  const fresh = newKey(1_000, 100_000);
  for (const process of processes) admitted += await process.admitted(700, fresh);
  expect(admitted).toBe(1_700 + 1_000);

  // The old master comes back as a replica, and nothing changes for those who count.
  await old.restart('--replicaof', '127.0.0.1', String((await group.master()).port));
  expect(await processes[0].admitted(1_000, fresh)).toBe(0);
});

it('follows a planned fail-over before the old master has become a replica', async () => {
  const key = newKey(1_000, 100_000);
  const [first, second] = await Counting.openTwo(group.url);
  expect((await first.admitted(200, key)) + (await second.admitted(200, key))).toBe(400);
  const old = await group.master();
  // Sentinels need a while to make it a replica; this one never becomes one.
  await old.command('ACL', 'SETUSER', 'default', '-replicaof', '-slaveof');
  await group.failOver();
  let admitted = 400;
  await Promise.all([first.shared(false), second.shared(false)]);
  for (const process of [first, second]) admitted += await process.admitted(1_000, key);
  await Promise.all([first.shared(true), second.shared(true)]);
  expect((await group.master()).port).not.toBe(old.port);
  expect(admitted).toBeGreaterThanOrEqual(1_000);
  expect(admitted).toBeLessThanOrEqual(3_000);
  for (const process of [first, second]) expect(await process.admitted(1_000, key)).toBe(0);
  const fresh = newKey(1_000, 100_000);
  expect((await first.admitted(700, fresh)) + (await second.admitted(700, fresh))).toBe(1_000);
});

it('is shared no more with a server that has become a replica, until it is a master again', async () => {
  const [server, other] = [await RedisServer.start(), await RedisServer.start()];
  const counting = await Counting.open(server.url);
  const key = newKey();
  expect(await counting.admitted(30, key)).toBe(30);
  await server.command('REPLICAOF', '127.0.0.1', String(other.port));
  expect(await counting.admitted(40, key)).toBe(30);
  expect(counting.changes).toEqual([false]);
  await server.command('REPLICAOF', 'NO', 'ONE');
  await counting.shared(true);
  expect(await counting.admitted(40, key)).toBe(0);
});

it('never counts in a Redis Cluster: the start fails, and names it', async () => {
  const node = await RedisServer.start('--cluster-enabled', 'yes');
  const message = /^REDIS_URL must not name a Redis Cluster, .*redis\+sentinel/;
  await expect(Counting.open(node.url)).rejects.toThrow(message);
});
