import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { expect, it } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { RedisServer } from './redis-server.ts';

const lines: string[] = [];

/** Passes everything on to Redis, or replies to each command by itself. */
class FakeRedis {
  /** The reply to every command, instead of that of Redis. */
  reply: string | undefined;
  readonly #server = createServer((client) => this.#serve(client));
  readonly #redisPort: number;

  static async start(redisPort: number): Promise<FakeRedis> {
    const started = new FakeRedis(redisPort);
    started.#server.listen(0, '127.0.0.1');
    await once(started.#server, 'listening');
    atEnd(() => started.#server.close());
    return started;
  }

  private constructor(redisPort: number) {
    this.#redisPort = redisPort;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #serve(client: Socket): void {
    const upstream = connect(this.#redisPort, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => undefined).on('close', () => other.destroy());
    }
    upstream.on('data', (bytes) => void client.write(bytes));
    client.on('data', (bytes) => {
      const { reply } = this;
      if (reply === undefined) upstream.write(bytes);
      else client.write(reply.repeat(bytes.toString('latin1').match(/\*\d+\r\n\$/g)?.length ?? 0));
    });
  }
}

const redis = await RedisServer.start();
const fake = await FakeRedis.start(redis.port);
const logStream = { write: (line: string) => void lines.push(line) };
const store = await startTestApp({ REDIS_URL: fake.url, LOG_LEVEL: 'info' }, { logStream });

/** What the log says of Redis. */
const events = (): string[] => lines.flatMap((line) => /Redis is (?:lost|back)/.exec(line) ?? []);

it.each([
  ['null', '$-1\r\n'],
  ['a null list', '*-1\r\n'],
  ['a text', '+nonsense\r\n'],
  ['an empty text', '$0\r\n\r\n'],
  ['a number', ':42\r\n'],
  ['a negative number', ':-1\r\n'],
  ['an empty list', '*0\r\n'],
  ['a list of texts', `*9\r\n${'$3\r\nabc\r\n'.repeat(9)}`],
  ['a list of nulls', `*9\r\n${'$-1\r\n'.repeat(9)}`],
  ['a list of fractions', `*9\r\n${'$3\r\n1.5\r\n'.repeat(9)}`],
  ['a list of lists', `*9\r\n${'*1\r\n:1\r\n'.repeat(9)}`],
  ['a list of huge numbers', `*9\r\n${'$22\r\n9999999999999999999999\r\n'.repeat(9)}`],
  ['an error', '-ERR nonsense\r\n'],
  ['no protocol at all', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
])(
  'a Redis that replies %s counts as lost: requests are served and counted, and it is used again when it is well',
  async (_name, reply) => {
    await until(() => events().at(-1) !== 'Redis is lost');
    const { secret } = await store.createKey({ plan: 'free' });
    const ask = () => store.graphql('{ pets(first: 1) { edges { node { id } } } }', {}, secret);
    expect((await ask()).headers['x-ratelimit-remaining']).toBe('59');
    atEnd(() => void (fake.reply = undefined));
    lines.length = 0;
    fake.reply = reply;
    const responses = [];
    for (let index = 0; index < 5; index += 1) responses.push(await ask());
    for (const { status, headers } of responses) {
      expect(status).toBe(200);
      for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
        expect(headers[name]).toMatch(/^\d+$/);
    }
    expect(events()).toEqual(['Redis is lost']);
    expect(lines.filter((line) => JSON.parse(line).level > 40)).toEqual([]);
  },
);
