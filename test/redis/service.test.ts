import { expect, it } from '@jest/globals';

import { findFreePort } from '../support/free-port.ts';
import { startTestApp } from '../support/test-app.ts';
import { RedisServer } from './redis-server.ts';

const lines: string[] = [];

const redis = await RedisServer.start();
const store = await startTestApp(
  { REDIS_URL: redis.url, LOG_LEVEL: 'warn' },
  { logStream: { write: (line: string) => void lines.push(line) } },
);

/** How often each status is the response to so many requests at once. */
async function statuses(requests: number, key: string): Promise<Record<number, number>> {
  const ask = () => store.graphql('{ pets(first: 1) { edges { node { id } } } }', {}, key);
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(Array.from({ length: requests }, ask))) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

async function sharedGauge(): Promise<string | undefined> {
  const { body } = await store.app.server.inject('/metrics');
  return /^petstore_quota_shared (\d)$/m.exec(body)?.[1];
}

it('a start without Redis goes on, and says why and what holds until Redis is there', async () => {
  const notices: string[] = [];
  const port = await findFreePort();
  const settings = { REDIS_URL: `redis://:secret@127.0.0.1:${port}`, LOG_LEVEL: 'silent' };
  await startTestApp(settings, { onNotice: (sentence) => notices.push(sentence) });
  expect(notices).toEqual([
    expect.stringMatching(
      /^Redis can't be used: .* ECONNREFUSED .*\n.*\nUntil it can, this process counts quotas alone; it tries again every half second\.$/,
    ),
  ]);
});

it.each([
  ['noeviction', '+@all', []],
  ['allkeys-lru', '+@all', ['allkeys-lru']],
  ['volatile-ttl', '+@all', ['volatile-ttl']],
  ['allkeys-lru', '+@all -config', []],
])(
  'a Redis that would evict counters is warned of at the start: %s, for a user with %s',
  async (policy, rights, warned) => {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', policy);
    await redis.command('ACL', 'SETUSER', 'counting', 'reset', 'on', '>secret', '~petstore:*', ...rights.split(' '));
    const said: { readonly msg: string; readonly policy?: string }[] = [];
    const logStream = { write: (line: string) => void said.push(JSON.parse(line) as (typeof said)[number]) };
    const settings = { REDIS_URL: redis.url.replace('//', '//counting:secret@'), LOG_LEVEL: 'warn' };
    const other = await startTestApp(settings, { logStream });
    const { body } = await other.app.server.inject('/metrics');
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect(body).toContain('petstore_quota_shared 1');
    expect(said.map((line) => line.policy)).toEqual(warned);
    for (const { msg } of said)
      expect(msg).toMatch(/^Redis evicts counters .* set its maxmemory-policy to noeviction$/);
  },
);

it('the service loses Redis without losing a request or what was spent, and says so in log and metrics', async () => {
  const { secret } = await store.createKey({ plan: 'free' });
  expect(await statuses(40, secret)).toEqual({ 200: 40 });
  expect(await sharedGauge()).toBe('1');

  await redis.kill();
  expect(await statuses(40, secret)).toEqual({ 200: 20, 429: 20 });
  expect(await sharedGauge()).toBe('0');
  expect(lines.filter((line) => line.includes('Redis is lost'))).toHaveLength(1);
});
