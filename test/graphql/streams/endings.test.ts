import { describe, expect, it } from '@jest/globals';
import net from 'node:net';

import type { AppOverrides } from '../../../src/app/base.ts';
import { startTestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';
import { eventStream, multipart, openStream } from './stream-client.ts';

async function start(overrides: AppOverrides = {}, environment: Record<string, string> = {}) {
  const app = await startTestApp({ PORT: '0', ...environment }, overrides);
  return { app, address: await app.app.listen() };
}

const { app, address } = await start({ streamTerms: { millisOfUnit: 200 } });

const body = { query: 'subscription { events { id type object { ... on Category { name } } } }' };
const framings = [eventStream, multipart];

function lastError(stream: Awaited<ReturnType<typeof openStream>>) {
  return stream.results().at(-1)?.errors?.[0]?.extensions;
}

describe('a stream ends with a message that says why:', () => {
  it('its hour is over, and the next one can be opened at once', async () => {
    const other = await start({ streamTerms: { lifeMillis: 500 } });
    const open = (accept: string) => openStream(other.address, other.app.key, body, accept);
    for (const stream of await Promise.all(framings.map(open))) {
      await stream.ended();
      expect(lastError(stream)).toMatchObject({ code: 'STREAM_ENDED' });
    }
    const next = await open(eventStream);
    expect(next.status).toBe(200);
    next.close();
  });

  it('its day is spent; a spent minute alone is waited for', async () => {
    const figures = { plan: 'enterprise', requestsPerMinute: 1_000 } as const;
    const day = await app.createKey({ ...figures, requestsPerDay: 3 });
    const minute = await app.createKey({ ...figures, requestsPerMinute: 2, requestsPerDay: 1_000 });
    const [ends, waits] = [
      await openStream(address, day.secret, body, eventStream),
      await openStream(address, minute.secret, body, eventStream),
    ];
    await ends.ended();
    expect(lastError(ends)).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    expect(lastError(ends).retryAfter).toBeGreaterThan(3_600);
    expect(waits.isEnded()).toBe(false);
    const refused = await openStream(address, minute.secret, body, eventStream);
    expect([refused.status, waits.isEnded()]).toEqual([429, false]);
    waits.close();
  });

  it.each([
    ['has expired', `expires_at = now() - interval '1 s'`, 'UNAUTHENTICATED', 401],
    ['was replaced by a new one', `sha256 = repeat('0', 64)`, 'UNAUTHENTICATED', 401],
    ['is banned', `banned_until = now() + interval '1 hour'`, 'KEY_BANNED', 403],
  ])('its key %s', async (_what, change, code, status) => {
    const { id, secret } = await app.createKey({ plan: 'pro' });
    const streams = await Promise.all(framings.map((accept) => openStream(address, secret, body, accept)));
    await app.sql(`update api_keys set ${change} where id = $1`, [id]);
    for (const stream of streams) {
      await stream.ended();
      expect(lastError(stream)).toMatchObject({ code, status });
    }
  });

  it.each(['{write}', '{read,webhooks}'])(
    'its key has other scopes, %s: the next one is opened with these',
    async (scopes) => {
      const { id, secret } = await app.createKey({ plan: 'pro', scopes: ['read'] });
      const stream = await openStream(address, secret, body, eventStream);
      await app.sql('update api_keys set scopes = $2 where id = $1', [id, scopes]);
      await stream.ended();
      expect(lastError(stream)).toMatchObject({ code: 'STREAM_ENDED' });
      const next = await openStream(address, secret, body, eventStream);
      expect(next.status).toBe(200);
      next.close();
    },
  );

  it('the log was replaced under it', async () => {
    const other = await start();
    const stream = await openStream(other.address, other.app.key, body, eventStream);
    await other.app.category();
    await stream.until(1);
    await other.app.sql('update event_state set nonce = nonce # 1');
    await other.app.sql('update events set nonce = nonce # 1');
    await stream.ended();
    expect(lastError(stream)).toMatchObject({ code: 'EVENTS_GONE', status: 410 });
  });

  it('the log has lost its position, and is shorter now', async () => {
    const other = await start();
    await other.app.category();
    await other.app.category();
    const stream = await openStream(other.address, other.app.key, body, eventStream);
    await other.app.category();
    await stream.until(1);
    await other.app.sql('delete from events where position = (select max(position) from events)');
    await other.app.sql(
      'update event_state as state set position = events.position, nonce = events.nonce from events where events.position = (select max(position) from events)',
    );
    await stream.ended();
    expect(lastError(stream)).toMatchObject({ code: 'EVENTS_GONE', status: 410 });
  });

  it('the service stops, which waits for no stream, nor for a client that reads nothing; openings are refused from the signal on', async () => {
    // Longer than the test may take.
    const other = await start({}, { DRAIN_DELAY: '1s', DRAIN_TIMEOUT: '200s' });
    const open = (accept: string) => openStream(other.address, other.app.key, body, accept);
    const { socket, received } = await openSocket(other.address, other.app.key);
    socket.pause();
    await other.app.sql(manyEvents);
    await until(async () => (await other.app.sql('select from event_outbox limit 1')).length === 0);
    const streams = await Promise.all(framings.map(open));
    const drained = other.app.app.drain();
    const late = await open(eventStream);
    await late.ended();
    expect([late.status, late.headers.get('retry-after'), streams.map((stream) => stream.isEnded())]).toEqual([
      503,
      '1',
      [false, false],
    ]);
    await drained;
    for (const stream of streams) {
      await stream.ended();
      expect(lastError(stream)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 });
    }
    expect(received()).not.toContain('SERVICE_UNAVAILABLE');
    socket.destroy();
  }, 90_000);
});

/** Sends a subscription, and reads until the stream has begun; `received` is what has been read. */
async function openSocket(origin: string, key: string) {
  const { hostname, port } = new URL(origin);
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  const text = JSON.stringify({ query: 'subscription { events { object { ... on Category { name description } } } }' });
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  await until(() => received.includes(':\n\n'));
  return { socket, received: () => received };
}

/** Far more than fits into the buffers of a connection, and than stays in memory. */
const manyEvents =
  "insert into categories (name, description) select 'n' || number, repeat('x', 2000) from generate_series(1, 5000) number";

it('a client that does not read keeps nothing but its position, and goes on from there without a gap', async () => {
  const { socket, received } = await openSocket(address, app.key);
  socket.pause();
  await app.sql(manyEvents);
  const last = async (): Promise<number> =>
    Number((await app.sql("select count(*) from events where type = 'category.created'"))[0]?.['count']);
  await until(async () => (await last()) === 5_000);
  expect(app.app.server.connections.underWay).toBe(0);
  socket.resume();
  await until(() => received().includes('"n5000"'));
  socket.destroy();
  const names = [...received().matchAll(/"name":"n(\d+)"/g)].map(([, number]) => Number(number));
  expect(names).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
}, 60_000);

it('a client that reads nothing for too long is disconnected, and its stream has ended', async () => {
  const other = await start({ httpLimits: { stallMillis: 500, checkEveryMillis: 50 } });
  const { socket } = await openSocket(other.address, other.app.key);
  const openStreams = async () =>
    /^petstore_event_streams (\d+)/m.exec((await other.app.ask('GET', '/metrics')).text)?.[1];
  expect(await openStreams()).toBe('1');
  socket.pause();
  await other.app.sql(manyEvents);
  await until(async () => (await openStreams()) === '0', { maxMillis: 40_000, everyMillis: 50 });
  socket.destroy();
}, 60_000);
