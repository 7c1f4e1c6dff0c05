import { afterAll, expect, it } from '@jest/globals';

import { RedisServer } from '../redis/redis-server.ts';
import { atEnd } from '../support/at-end.ts';
import { startCluster } from '../support/started-cluster.ts';
import { until } from '../support/until.ts';
import { clientAttacks } from './client-attacks.ts';
import { connectionAttacks } from './connection-attacks.ts';
import { limitMemory } from './memory-limit.ts';
import { pause, statusOn, times } from './raw-requests.ts';
import { RedisProxy } from './redis-proxy.ts';
import { endure, expectHarmless, printTable, timeoutMillis } from './report.ts';
import { fillStore, Target } from './target.ts';

/** What a process in a control group of 1 GiB survives. */
const limitBytes = 2 ** 30;

const memory = limitMemory(limitBytes);

const [cluster, server] = await Promise.all([startCluster(), RedisServer.start()]);
const redis = await RedisProxy.start(server.url);
const settings = { DATABASE_URL: cluster.url, REDIS_URL: redis.url, TRUST_PROXY: '127.0.0.1' };
const target = await Target.start(settings, (command) => memory.wrap(command));
await fillStore(settings, { categories: 1_000, pets: 100_000, description: '\u{1F408}'.repeat(2_000) });

atEnd(async () => {
  await target.service.stop();
  memory.remove();
});
afterAll(printTable);

it(
  'a quiet service, to compare with',
  async () => {
    const [responses, damages] = await endure(target, async () => {
      await pause(2);
      return '';
    });
    expectHarmless('none', responses, damages);
  },
  timeoutMillis,
);

it.each(Object.entries({ ...connectionAttacks, ...clientAttacks }))(
  'survives %s',
  async (name, attack) => {
    const [responses, damages] = await endure(target, () => attack(target));
    expectHarmless(name, responses, damages);
  },
  timeoutMillis,
);

it.each(['OPTIONS, closed before the response', 'bodies cut off anywhere'])(
  'a slow Redis: at most one line for each request, below warn: %s',
  async (name) => {
    await redis.reply({ delayMillis: 15 });
    try {
      const [responses, damages] = await endure(target, () => connectionAttacks[name]!(target));
      expectHarmless(`${name}, Redis 15 ms away`, responses, damages);
      // On a busy machine Redis may count as lost, which is said.
      const complaints = damages.flatMap((damage) => damage.complaints).filter((line) => !line.includes('Redis'));
      expect(complaints).toEqual([]);
    } finally {
      await redis.reply({});
    }
  },
  timeoutMillis,
);

it.each(['$-1\r\n', '$3\r\nabc\r\n', '*3\r\n$-1\r\n$4\r\n-1e9\r\n:7\r\n', ':-9007199254740993\r\n', '+OK\r\n'])(
  'a Redis that replies %j counts as lost',
  async (nonsense) => {
    const count = async (): Promise<string> => {
      const { status, headers } = await target.request('/pets?limit=1');
      const figures = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
      return figures.every((figure) => /^\d+$/.test(figure ?? '')) ? String(status) : figures.join(' ');
    };
    await redis.reply({ nonsense });
    try {
      expect(new Set(await Promise.all(times(20, count)))).toEqual(new Set(['200']));
      expect(await count()).toBe('200');
    } finally {
      await redis.reply({});
    }
    expect(await count()).toBe('200');
  },
);

it('logs no key, wherever it is put', async () => {
  const secret = target.attacker;
  const half = secret.length - 3;
  const encoded = `%${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`;
  const logged = target.service.output.length;
  await Promise.all([
    target.request(`/${secret}`),
    target.request(`/pets/${encoded}?key=${secret}&key=${encoded}`),
    target.request(`/pets?cursor=${secret}`),
    target.request('/pets', { headers: { 'x-request-id': secret } }),
    target.request('/pets', { headers: { 'x-request-id': `a-${secret}-b`, 'x-forwarded-for': secret } }),
    target.request('/pets', { headers: { 'user-agent': secret, referer: secret, traceparent: secret } }),
    target.request('/pets', {
      method: 'POST',
      headers: { 'content-type': secret, 'idempotency-key': secret },
      body: secret,
    }),
    target.request('/pets', { method: 'POST', headers: { 'content-type': 'application/json' }, body: `{${secret}` }),
    target.graphql({ query: `query ${secret} { pets(first: 1) { totalCount } }`, operationName: secret }),
    target.graphql({ query: `{ ${secret}: pets(first: 1) { ${secret} } }` }),
    target.graphql({ query: '{ pet(id: 1) { id } }', variables: { [secret]: secret } }),
    target.graphql({ documentId: secret }),
  ]);
  for (const text of [
    `GET /${secret} HTTP/9\r\n\r\n`,
    `${secret} / HTTP/1.1\r\n\r\n`,
    `GET /${encoded}/%zz HTTP/1.1\r\nHost: ${secret}\r\n\r\n`,
  ]) {
    const socket = await target.send(text);
    await statusOn(socket);
    socket.destroy();
  }
  const { text } = await target.request('/metrics');
  await until(() => target.service.output.slice(logged).split('\n').length > 12);
  // Enough of it to guess the rest.
  expect(target.service.output.slice(logged)).not.toContain(secret.slice(10, half));
  expect(text).not.toContain(secret.slice(10, half));
});

it(
  'survives several attacks at once',
  async () => {
    const names = [
      '64 KiB of probes on each of 400 connections, unread',
      'many idle connections, and half as many that send a header a letter at a time',
      '100 results of 6 MB, unread',
      '25 keys with 2 whole collections of large rows each, unread',
      '100 documents of 400 equal fields, the last byte at once',
      'walks of 48 aliases through 1,000 categories on 8 connections',
      'bodies in 300,000 chunks of a byte',
      '200 changes of one row, atomic ones among them',
    ];
    const [responses, damages] = await endure(target, async () => {
      const all = names.map((name) => ({ ...connectionAttacks, ...clientAttacks })[name]!(target));
      return `${(await Promise.all(all)).length} attacks`;
    });
    expectHarmless('these at once', responses, damages, { isAlone: false });
  },
  timeoutMillis,
);
