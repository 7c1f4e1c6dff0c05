import { describe, expect, it } from '@jest/globals';

import { startHttp } from './http-harness.ts';

const origin = 'https://shop.example';

const http = await startHttp({ corsOrigins: [origin, 'http://localhost:3000'] });
const closed = await startHttp();

const listOf = (header: unknown): string[] => String(header).toLowerCase().split(', ');

describe('a page of a known origin', () => {
  it.each([
    'authorization, content-type,idempotency-key',
    'authorization, sentry-trace, baggage, x-datadog-trace-id, traceparent, X-Whatever_1',
  ])('is let in by a preflight, with whatever headers it asks for: %s', async (asked) => {
    const preflight = { origin, 'access-control-request-method': 'PATCH' };
    const ask = (headers: Readonly<Record<string, string>>) =>
      http.server.inject({ method: 'OPTIONS', url: '/things', headers });
    const response = await ask({ ...preflight, 'access-control-request-headers': asked });
    expect(response.statusCode).toBe(204);
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
      'access-control-allow-headers': asked.split(/, ?/).join(', '),
      allow: 'GET, HEAD, OPTIONS, POST',
      vary: expect.stringMatching('Origin'),
      'x-ratelimit-limit': expect.any(String),
    });
    expect(listOf((await ask(preflight)).headers['access-control-allow-headers'])).toContain('authorization');
    const elsewhere = await ask({
      ...preflight,
      origin: 'https://other.example',
      'access-control-request-headers': asked,
    });
    expect(elsewhere.headers['access-control-allow-headers']).toBeUndefined();
  });

  it.each([
    ['authorization, <script>, x y, x-one', 'authorization, x-one'],
    [' ,, "quoted", naïve,x:y,(comment) ,\tx-two\t', 'x-two'],
    ['<>', ''],
  ])('is let in with the names of headers alone among what it asks for: %j', async (asked, allowed) => {
    const headers = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': asked };
    const response = await http.server.inject({ method: 'OPTIONS', url: '/things', headers });
    expect(response.statusCode).toBe(204);
    expect(response.headers['access-control-allow-headers']).toBe(allowed);
  });

  it('may read every header of the API, of refusals too', async () => {
    for (const url of ['/things', '/nothing']) {
      const { headers } = await http.server.inject({ url, headers: { origin } });
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(listOf(headers['access-control-expose-headers'])).toEqual([
        'x-ratelimit-limit',
        'x-ratelimit-remaining',
        'x-ratelimit-reset',
        'ratelimit',
        'ratelimit-policy',
        'x-ratelimit-cost',
        'x-graphql-complexity',
        'retry-after',
        'etag',
        'link',
        'location',
        'deprecation',
        'sunset',
        'x-request-id',
        'idempotent-replayed',
        'www-authenticate',
      ]);
    }
  });

  it('may read that the service is overloaded', async () => {
    const busy = await startHttp({ corsOrigins: ['*'], limits: { maxWaiting: 0 } });
    const { statusCode, headers } = await busy.server.inject({ url: '/things', headers: { origin } });
    expect([statusCode, headers['access-control-allow-origin']]).toEqual([503, '*']);
  });

  it('gets 404 for a preflight of an unknown path', async () => {
    const response = await http.server.inject({
      method: 'OPTIONS',
      url: '/nothing',
      headers: { origin, 'access-control-request-method': 'GET' },
    });
    expect(response.statusCode).toBe(404);
  });
});

it('a page of another origin is not allowed, and none is when there are no origins', async () => {
  for (const [server, from] of [
    [http.server, 'https://other.example'],
    [http.server, 'https://shop.example.other'],
    [closed.server, origin],
  ] as const) {
    const { headers } = await server.inject({ url: '/things', headers: { origin: from } });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['vary']).toMatch('Origin');
  }
});

it('leaves OPTIONS as it is for others', async () => {
  for (const { server } of [http, closed]) {
    const response = await server.inject({ method: 'OPTIONS', url: '/things/7' });
    expect([response.statusCode, response.headers.allow]).toEqual([204, 'OPTIONS, PATCH']);
  }
});
