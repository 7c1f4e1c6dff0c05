import { request, Agent } from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { IncomingMessage } from 'node:http';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { RedisServer } from '../redis/redis-server.ts';
import { findFreePort } from '../support/free-port.ts';
import { startCluster } from '../support/started-cluster.ts';
import { RunningCommand } from '../support/running-command.ts';
import { adminKey, Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createCertificate, proxies } from './proxies.ts';

const [cluster, redis] = await Promise.all([startCluster(), RedisServer.start()]);
const certificate = createCertificate();
const services: Service[] = [];
const settings = {
  DATABASE_URL: cluster.url,
  REDIS_URL: redis.url,
  TRUST_PROXY: '127.0.0.1',
  DRAIN_DELAY: '5s',
  LOG_LEVEL: 'warn',
};

describe.each(proxies)('$name by the configuration of the guide, in front of two processes', (proxy) => {
  const addressBase = proxy.name === 'HAProxy' ? '127.0.1' : '127.0.2';
  let running: RunningCommand;
  let port: number;

  beforeAll(async () => {
    while (services.length < 2) services.push(await Service.start(settings));
    port = await findFreePort();
    const [first, second] = services.map(({ address }) => new URL(address).host) as [string, string];
    running = new RunningCommand(proxy.command(port, [first, second]), {});
    await untilServed();
  });

  afterAll(() => running.stop());

  interface Sent {
    readonly method?: string;
    readonly headers?: Record<string, string | string[]>;
    readonly body?: string;
    readonly from?: string;
    readonly agent?: Agent;
  }

  async function send(path: string, { from = '127.0.0.1', body, ...options }: Sent = {}) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, ca: certificate, localAddress: from, ...options }, resolve)
        .on('error', reject)
        .end(body);
    });
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }

  /** The proxy needs a moment to listen and, where it checks, to find both processes ready. */
  async function untilServed(): Promise<void> {
    const deadline = performance.now() + 20_000;
    for (let hits = 0; hits < 2;) {
      const status = await send('/readyz').then(
        (response) => response.status,
        (error: unknown) => String(error),
      );
      hits = status === 200 ? hits + 1 : 0;
      if (performance.now() > deadline) throw new Error(`Not served: ${status}\n${running.output}`);
    }
  }

  test('the address that counts is the one the proxy saw, whatever the client claims, and both processes count together', async () => {
    const remaining = async (from: string, claimed: string): Promise<string> => {
      const headers = { 'x-forwarded-for': claimed, 'x-real-ip': claimed, forwarded: `for=${claimed}` };
      const { status, headers: received } = await send('/pets', { from, headers });
      expect(status).toBe(401);
      return String(received['x-ratelimit-remaining']);
    };
    const seen = [];
    for (const claimed of ['203.0.113.1', '203.0.113.2', '203.0.113.3, 203.0.113.4']) {
      seen.push(await remaining(`${addressBase}.2`, claimed));
    }
    expect(seen).toEqual(['59', '58', '57']);
    expect(await remaining(`${addressBase}.3`, '203.0.113.1')).toBe('59');
  });

  test.each<Record<string, string | string[]>>([
    { 'x-forwarded-host': 'evil.example' },
    { 'x-forwarded-host': ['shop.example', 'evil.example'] },
    { 'x-forwarded-proto': 'evil.example' },
    { forwarded: 'host=evil.example;proto=http' },
    { 'x-original-host': 'evil.example', 'x-host': 'evil.example' },
  ])('clients are served over TLS, and the published examples name no host that they forward: %j', async (headers) => {
    const document = await send('/openapi.json', { headers });
    expect(document.body).toContain(`https://127.0.0.1:${port}/pets`);
    expect(document.body).not.toContain('evil.example');
    expect(document.headers['strict-transport-security']).toBe('max-age=31536000');
  });

  test.each([
    '/metrics',
    '/%6Detrics',
    '/%6d%65trics?x',
    '//metrics',
    '/./metrics',
    '/pets/../metrics',
    '/pets/%2e%2e/metrics',
    '/metrics/',
    '/metrics#x',
    '/metrics%3F',
    '/metrics%00',
    '/metrics;x',
    '/%256Detrics',
    '/METRICS',
    'http://shop.example/metrics',
    'http://x/%6Detrics',
    '\\metrics',
  ])('the metrics stay inside: nothing of them is at %s', async (path) => {
    const { status, body } = await send(path);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).not.toContain('nodejs_');
  });

  if (proxy.name === 'HAProxy') {
    /** A connection from an address, or undefined when the proxy closes it before TLS. */
    const open = (from: string): Promise<TLSSocket | undefined> =>
      new Promise((resolve) => {
        const socket = connectTls({
          socket: connect({ host: '127.0.0.1', port, localAddress: from }),
          ca: certificate,
        });
        socket.once('secureConnect', () => resolve(socket));
        socket.on('error', () => resolve(undefined)).on('close', () => resolve(undefined));
      });
    const status = (from: string) =>
      send('/healthz', { from, agent: new Agent() }).then(
        (response) => response.status,
        () => 'refused',
      );

    test('an address has 200 connections, one more is refused, and the others are served', async () => {
      const sockets = await Promise.all(Array.from({ length: 200 }, () => open('127.0.1.4')));
      try {
        expect(sockets.filter((socket) => socket !== undefined)).toHaveLength(200);
        expect(await status('127.0.1.4')).toBe('refused');
        expect(await status('127.0.1.5')).toBe(200);
      } finally {
        for (const socket of sockets) socket?.destroy();
      }
      await until(async () => (await status('127.0.1.4')) === 200);
    });

    test('an address that opens more than 1,000 connections in 10 s is refused, and the others are served', async () => {
      const openAndClose = (): Promise<unknown> =>
        new Promise((resolve) => {
          const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.1.6' });
          socket.on('connect', () => socket.end()).on('error', () => undefined);
          socket.on('close', resolve).resume();
        });
      expect(await status('127.0.1.6')).toBe(200);
      for (let opened = 0; opened < 1_000; opened += 50) await Promise.all(Array.from({ length: 50 }, openAndClose));
      expect(await status('127.0.1.6')).toBe('refused');
      expect(await status('127.0.1.7')).toBe(200);
    });
  }

  if (proxy.name === 'nginx') {
    test('an address has 200 requests under way, further ones are 429, and the others wait and are served', async () => {
      const agent = new Agent({ keepAlive: true });
      const statuses: (number | undefined)[] = [];
      const ask = async (from: string): Promise<void> => {
        statuses.push((await send('/healthz', { from, agent })).status);
      };
      for (const service of services) service.signal('SIGSTOP');
      const asked = Array.from({ length: 210 }, () => ask('127.0.2.4'));
      await until(() => statuses.length === 10).finally(() => {
        asked.push(ask('127.0.2.5'));
        for (const service of services) service.signal('SIGCONT');
      });
      await Promise.all(asked);
      agent.destroy();
      expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 429));
      expect(new Set(statuses.slice(10))).toEqual(new Set([200]));
      expect(statuses).toHaveLength(211);
    });
  }

  if (proxy.name === 'HAProxy') {
    test('both processes stand still for 2.3 s: requests wait, and none fails, then or later', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 4 });
      const statuses: (number | undefined)[] = [];
      const over = new AbortController();
      const sendOn = async (): Promise<void> => {
        while (!over.signal.aborted) {
          statuses.push((await send('/robots.txt', { agent })).status);
          await sleep(20);
        }
      };
      const load = Promise.all(Array.from({ length: 4 }, sendOn));
      for (const service of services) service.signal('SIGSTOP');
      await sleep(2_300);
      for (const service of services) service.signal('SIGCONT');
      const resumedWith = statuses.length;
      // In which the proxy would take a process out, and back in again.
      await sleep(4_000);
      over.abort();
      await load;
      agent.destroy();
      expect(statuses.length).toBeGreaterThan(resumedWith + 20);
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
    });
  }

  test('a lost database is the 503 of the service, not the page of the proxy, and is over when the database is back', async () => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const rest = () => send('/pets?limit=1', { headers });
    const graphql = () =>
      send('/graphql', { method: 'POST', headers, body: '{"query":"{ pets(first: 1) { totalCount } }"}' });
    expect([(await rest()).status, (await graphql()).status]).toEqual([200, 200]);
    cluster.stop();
    // Longer than HAProxy takes to drop a process whose check fails.
    for (const started = performance.now(); performance.now() - started < 5_000; await sleep(100)) {
      for (const [response, code] of [
        [await rest(), { code: 'unavailable', status: 503 }],
        [await graphql(), { errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', status: 503 } }] }],
      ] as const) {
        expect([response.status, response.body]).toEqual([503, expect.stringMatching(/^\{/)]);
        expect(JSON.parse(response.body)).toMatchObject(code);
        expect(response.headers).toMatchObject({
          'content-type': expect.stringMatching(/json/),
          'retry-after': expect.stringMatching(/^\d+$/),
          'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
          'x-request-id': expect.any(String),
        });
        const id = String(response.headers['x-request-id']);
        await until(() => services.some(({ output }) => output.includes(id)));
      }
    }
    expect((await send('/readyz')).status).toBe(503);
    cluster.start();
    await until(async () => (await rest()).status === 200 && (await graphql()).status === 200);
  });

  test('both processes are replaced in their place, one after the other, without one failed request', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const statuses = new Map<number | undefined, number>();
    const over = new AbortController();
    const sendOn = async (number: number): Promise<void> => {
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        const body = `{"name":"Category ${number} ${turn}"}`;
        const post = { method: 'POST', headers, body, agent };
        // Few enough for the quota of the key.
        const { status } = turn % 100 === 0 ? await send('/categories', post) : await send('/healthz', { agent });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await sleep(20);
      }
    };
    const load = Promise.all(Array.from({ length: 4 }, (_, number) => sendOn(number)));
    for (const old of services.splice(0)) {
      const { port: own } = old;
      expect(await old.stop()).toBe(0);
      // Then only the other one is left.
      expect((await send('/categories', { method: 'POST', headers, body: '{"name":"After"}' })).status).toBe(201);
      services.push(await Service.start({ ...settings, PORT: String(own) }));
      await sleep(5_000);
    }
    over.abort();
    await load;
    agent.destroy();
    expect(new Set(statuses.keys())).toEqual(new Set([200, 201]));
  });
});
