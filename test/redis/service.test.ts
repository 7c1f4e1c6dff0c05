import { expect, it } from '@jest/globals';

import { connectRedisCounters } from '../../src/platform/quotas/redis-counters.ts';
import { atEnd } from '../support/at-end.ts';
import { listenBefore } from '../support/listen.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { optionsFor } from './counting.ts';
import { RedisServer } from './redis-server.ts';

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly policy?: string;
}

/** The reply to every command, instead of that of Redis. */
let reply: string | undefined;

const redis = await RedisServer.start();
const port = await listenBefore(redis.port, (client, server) => {
  server.on('data', (bytes) => void client.write(bytes));
  client.on('data', (bytes) => {
    if (reply === undefined) server.write(bytes);
    else client.write(reply.repeat(bytes.toString('latin1').match(/\*\d+\r\n\$/g)?.length ?? 0));
  });
});
const lines: LogLine[] = [];
const settings = { REDIS_URL: `redis://127.0.0.1:${port}`, LOG_LEVEL: 'info' };
const logStream = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) };
await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
const store = await startTestApp(settings, { logStream });
const warnings = lines.filter(({ level }) => level >= 40);

/** What the log says of Redis. */
const events = (): string[] => lines.flatMap(({ msg }) => /^Redis is (?:lost|back)/.exec(msg) ?? []);

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

it.each([
  ['noeviction', '+@all', []],
  ['allkeys-lru', '+@all', ['allkeys-lru']],
  ['volatile-ttl', '+@all', ['volatile-ttl']],
  ['allkeys-lru', '+@all -config', []],
])('a Redis that would evict counters is noticed: %s, by a user with %s', async (policy, rights, expected) => {
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', policy);
  await redis.command('ACL', 'SETUSER', 'counting', 'reset', 'on', '>secret', '~petstore:*', ...rights.split(' '));
  const noticed: string[] = [];
  const options = optionsFor(redis.url.replace('//', '//counting:secret@'));
  const counters = await connectRedisCounters(
    { ...options, onEviction: (found) => noticed.push(found) },
    () => undefined,
  );
  counters.close();
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  expect(noticed).toEqual(expected);
});

it('the service warns at its start of a Redis that would evict counters', () => {
  expect(warnings).toEqual([
    expect.objectContaining({
      policy: 'allkeys-lru',
      msg: expect.stringMatching(/^Redis evicts counters .* set its maxmemory-policy to noeviction$/),
    }),
  ]);
});

it.each([
  ['null', '$-1\r\n'],
  ['a text', '+nonsense\r\n'],
  ['a number', ':42\r\n'],
  ['a list of texts', `*9\r\n${'$3\r\nabc\r\n'.repeat(9)}`],
  ['an error', '-ERR nonsense\r\n'],
  ['no protocol at all', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
])(
  'a Redis that replies %s counts as lost: requests are served and counted, and it is used again when it is well',
  async (_name, nonsense) => {
    await until(() => events().at(-1) !== 'Redis is lost');
    const { secret } = await store.createKey({ plan: 'free' });
    const ask = () => store.graphql('{ pets(first: 1) { edges { node { id } } } }', {}, secret);
    expect((await ask()).headers['x-ratelimit-remaining']).toBe('59');
    atEnd(() => void (reply = undefined));
    lines.length = 0;
    reply = nonsense;
    const responses = [];
    for (let index = 0; index < 5; index += 1) responses.push(await ask());
    for (const { status, headers } of responses) {
      expect(status).toBe(200);
      for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
        expect(headers[name]).toMatch(/^\d+$/);
    }
    expect(events()).toEqual(['Redis is lost']);
    expect(lines.filter(({ level }) => level > 40)).toEqual([]);
  },
);

it('the service counts under the id of its database', async () => {
  await until(() => events().at(-1) !== 'Redis is lost');
  const { id, secret } = await store.createKey();
  await statuses(1, secret);
  const [installation] = await store.sql('select id from installation');
  expect(await redis.command('KEYS', `*{${id}}*`)).toEqual([`petstore:quota:${String(installation?.['id'])}:{${id}}`]);
});

it('the service loses Redis without losing a request or what was spent, and says so in log and metrics', async () => {
  await until(async () => (await sharedGauge()) === '1');
  lines.length = 0;
  const { secret } = await store.createKey({ plan: 'free' });
  expect(await statuses(40, secret)).toEqual({ 200: 40 });

  await redis.kill();
  expect(await statuses(40, secret)).toEqual({ 200: 20, 429: 20 });
  expect(await sharedGauge()).toBe('0');
  expect(events()).toEqual(['Redis is lost']);
});
