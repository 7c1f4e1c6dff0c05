import { expect, it } from '@jest/globals';
import type { InjectOptions } from 'fastify';

import { shownPrefix } from '../../src/domain/access/api-key.ts';
import { Metrics } from '../../src/http/observe/metrics.ts';
import { createMetricsServer } from '../../src/http/observe/metrics-server.ts';
import { Callers } from '../../src/platform/callers/index.ts';
import { portOf, responseTo } from '../platform/http/raw-requests.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

const log: Record<string, unknown>[] = [];

const service = await startTestApp(
  { LOG_LEVEL: 'info', REDIS_URL: '', TRUST_PROXY: '1' },
  { logStream: { write: (line) => void log.push(JSON.parse(line)) } },
);

/** The value of one line of the metrics; undefined when it isn't there. */
async function metric(line: string): Promise<number | undefined> {
  const { body, headers } = await service.app.server.inject('/metrics');
  expect(headers['content-type']).toMatch('text/plain; version=0.0.4');
  const found = body.split('\n').find((text) => text.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length));
}

it('counts requests by operation and status, and how long they take', async () => {
  const { secret } = await service.createKey();
  for (let count = 0; count < 3; count += 1) await service.graphql('query MadeUp { pets { totalCount } }', {}, secret);
  await service.graphql('{ nothing }', {}, secret);
  await service.app.server.inject('/made-up-path');
  expect(await metric('petstore_requests_total{operation="query pets",status="200"}')).toBe(3);
  expect(await metric('petstore_requests_total{operation="POST /graphql",status="400"}')).toBe(1);
  expect(await metric('petstore_requests_total{operation="none",status="401"}')).toBe(1);
  expect(await metric('petstore_request_duration_seconds_count{operation="query pets"}')).toBe(3);
});

it('counts what the quota says by plan', async () => {
  const { secret } = await service.createKey({ plan: 'enterprise', requestsPerMinute: 1, requestsPerDay: 5 });
  const before = await metric('petstore_quota_decisions_total{plan="enterprise",outcome="refused"}');
  await service.graphql('{ __typename }', {}, secret);
  await service.graphql('{ __typename }', {}, secret);
  expect(await metric('petstore_quota_decisions_total{plan="enterprise",outcome="refused"}')).toBe((before ?? 0) + 1);
});

it('shows the pool, the event loop, and nothing of Redis where none is configured', async () => {
  const [idle, busy] = [
    await metric('petstore_database_connections{state="idle"}'),
    await metric('petstore_database_connections{state="busy"}'),
  ];
  expect(idle! + busy!).toBeGreaterThan(0);
  expect(await metric('petstore_database_waiting')).toBeGreaterThanOrEqual(0);
  expect(await metric('petstore_requests_under_way')).toBe(0);
  expect(await metric('petstore_log_lines_dropped_total')).toBe(0);
  expect(await metric('petstore_quota_shared')).toBeUndefined();
  expect(await metric('petstore_bans_total')).toBe(0);
  expect(await metric('petstore_streams')).toBe(0);
  expect(await metric('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
});

it('has no label that a client has made up', async () => {
  const evil = 'evil_4711';
  await service.graphql(`query ${evil} { ${evil}: pets { totalCount } }`);
  await service.graphql(`{ ${evil} }`);
  await service.app.server.inject({ url: `/${evil}?${evil}`, headers: { 'x-api-key': evil, 'user-agent': evil } });
  await service.app.server.inject({ method: 'PROPFIND', url: `/graphql?${evil}` });
  expect((await service.app.server.inject('/metrics')).body).not.toMatch(evil);
});

it('leaves no key in the log or the metrics, wherever a client puts it', async () => {
  const { id, secret } = await service.createKey({ plan: 'business' });
  const escaped = secret.replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  const partly = escaped.slice(0, 3) + secret.slice(1);
  const json = { 'content-type': 'application/json' };
  const requests: InjectOptions[] = [
    ...[secret, escaped, `${'x'.repeat(150)}${secret}`, `pets/${partly}?key=${secret}&key=${partly}`].map((path) => ({
      url: `/${path}`,
    })),
    ...['x-request-id', 'x-forwarded-for', 'user-agent', 'referer', 'traceparent'].map((name) => ({
      url: `/pets?cursor=${secret}`,
      headers: { [name]: secret },
    })),
    { url: '/pets', headers: { 'x-request-id': `a-${secret}-b`, authorization: `Bearer ${secret}` } },
    { method: 'POST', url: '/pets', payload: secret, headers: { 'content-type': secret, 'idempotency-key': secret } },
    { method: 'POST', url: '/pets', payload: `{${secret}`, headers: json },
    ...[
      { query: `query ${secret} { pets(first: 1) { totalCount } }`, operationName: secret },
      { query: `{ ${secret}: pets(first: 1) { ${secret} } }` },
      { query: '{ pet(id: 1) { id } }', variables: { [secret]: secret } },
      { documentId: secret },
    ].map((payload) => ({ method: 'POST' as const, url: '/graphql', payload })),
  ];
  for (const { headers, ...request } of requests)
    await service.app.server.inject({ ...request, headers: { 'x-api-key': secret, ...headers } });
  const port = await portOf(service.app.server);
  for (const text of [
    `GET /${secret} HTTP/9\r\n\r\n`,
    `${secret} / HTTP/1.1\r\n\r\n`,
    `GET /${partly}/%zz HTTP/1.1\r\nHost: ${secret}\r\nConnection: close\r\n\r\n`,
  ])
    await responseTo(port, text);
  service.app.server.log.error({ err: new Error(`row of ${secret}`) }, `failed for ${secret}`);
  const { data } = await service.graphql('mutation { createApiKey(input: { name: "k", plan: FREE }) { secret } }');
  const created = data.createApiKey.secret as string;
  expect(log.filter(({ key, status }) => key === id && status !== undefined)).toHaveLength(requests.length);
  const shown = JSON.stringify(log) + (await service.app.server.inject('/metrics')).body;
  expect(shown).toContain(`/${shownPrefix(secret)}…`);
  // Enough of it to guess the rest.
  for (const part of [secret.slice(10, -3), escaped.slice(30, -9), created.slice(10, -3)])
    expect(shown).not.toContain(part);
});

it('moves to a listener of its own', async () => {
  const lines: string[] = [];
  const moved = await startTestApp(
    { PORT: '0', METRICS_PORT: '0', LOG_LEVEL: 'info' },
    { logStream: { write: (line) => void lines.push(line) } },
  );
  const address = await moved.app.listen();
  expect((await fetch(`${address}/metrics`)).status).toBe(401);
  const [, own] = /"url":"(.*?)","msg":"metrics"/.exec(lines.join('\n')) ?? [];
  const response = await fetch(`${own}/metrics`);
  expect([response.status, await response.text()]).toEqual([200, expect.stringMatching('petstore_requests_total')]);
  await moved.close();
  await expect(fetch(`${own}/metrics`)).rejects.toThrow('fetch failed');
});

it('are collected for a bounded time, however often they are asked for', async () => {
  const metrics = new Metrics();
  let collections = 0;
  metrics.watch({
    servers: () => [],
    replicas: () => [],
    clock: { offsetSeconds: 0 },
    events: { lagSeconds: 0, logBytes: 0 },
    pool: () => ({ total: 0, idle: 0, waiting: 0 }),
    requestsUnderWay: () => {
      collections += 1;
      const end = performance.now() + 100;
      while (performance.now() < end);
      return 0;
    },
    collections: () => 0,
    eventStreams: () => 0,
    isCountingShared: () => undefined,
  });
  const server = createMetricsServer(metrics, new Callers(), () => undefined);
  for (let count = 0; count < 50; count += 1) expect((await server.inject('/metrics')).statusCode).toBe(200);
  expect(collections).toBeLessThan(20);
  await server.close();
});

it('the line of a 429 has the window that is spent, its limit, and Retry-After', async () => {
  for (const [window, requestsPerMinute, requestsPerDay] of [
    ['minute', 1, 5],
    ['day', 5, 1],
  ] as const) {
    const { secret, id } = await service.createKey({ plan: 'enterprise', requestsPerMinute, requestsPerDay });
    const authorization = `Bearer ${secret}`;
    await service.ask('GET', '/categories', undefined, { authorization });
    for (const send of [
      () => service.ask('GET', '/categories', undefined, { authorization }),
      () => service.graphql('{ categories { totalCount } }', {}, secret),
    ]) {
      const before = log.length;
      const { status, headers } = await send();
      const refused = () => log.slice(before).find((line) => line['key'] === id && 'ms' in line);
      await until(() => refused() !== undefined);
      expect(status).toBe(429);
      expect(refused()).toMatchObject({
        status: 429,
        retryAfter: Number(headers['retry-after']),
        quota: { window, limit: 1 },
      });
    }
  }
});
