import { describe, expect, it } from '@jest/globals';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';

import type { NewApiKey } from '../../src/domain/access/new-api-key.ts';
import { hostedParts } from '../support/hosted-parts.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const environment = { TRUST_PROXY: '1' };
const services: readonly (readonly [string, TestApp])[] = [
  ['by one process', await startTestApp(environment)],
  ['by the primary of several workers', await startTestApp(environment, { shared: hostedParts() })],
];

describe.each(services)('counted %s:', (_by, service) => {
  /** A client with a key of its own. */
  async function client(input: Partial<NewApiKey> = {}) {
    const { secret } = await service.createKey(input);
    const send = (request: InjectOptions): Promise<LightMyRequestResponse> =>
      service.app.server.inject({ ...request, headers: { 'x-api-key': secret, ...request.headers } });
    return {
      send,
      query: (query: string, more: object = {}) =>
        send({ method: 'POST', url: '/graphql', payload: { query, ...more } }),
      /** What is left of the minute: the next request's figure, of those that are free. */
      remaining: async () => {
        const response = await send({
          method: 'POST',
          url: '/graphql',
          payload: { query: '{ rateLimit { remaining } }' },
        });
        return Number(response.headers['x-ratelimit-remaining']);
      },
    };
  }

  const aliases = (count: number): string =>
    `{ ${Array.from({ length: count }, (_, n) => `a${n}: pet(id: 1) { id }`).join(' ')} }`;

  const tally = (responses: readonly LightMyRequestResponse[]): Record<number, number> => {
    const counts: Record<number, number> = {};
    for (const { statusCode } of responses) counts[statusCode] = (counts[statusCode] ?? 0) + 1;
    return counts;
  };

  describe('100 requests at once with a Free key', () => {
    const graphql: InjectOptions = { method: 'POST', url: '/graphql', payload: { query: '{ __typename }' } };

    it.each<[string, (n: number) => InjectOptions, number]>([
      ['of both protocols', (n) => (n % 2 === 0 ? graphql : { method: 'GET', url: '/pets?id=1' }), 200],
      ['of unknown paths', () => ({ method: 'GET', url: '/nothing' }), 404],
      ['of a wrong method', () => ({ method: 'PUT', url: '/graphql' }), 405],
    ])(
      '%s: 60 are admitted, 40 are refused, no key is banned, and every figure comes once',
      async (_what, request, ok) => {
        const { send, remaining } = await client();
        const responses = await Promise.all(Array.from({ length: 100 }, (_, n) => send(request(n))));
        expect(tally(responses)).toEqual({ [ok]: 60, 429: 40 });
        const admitted = responses.filter(({ statusCode }) => statusCode === ok);
        const figures = admitted.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
        expect(figures.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
        for (const { headers } of responses.filter(({ statusCode }) => statusCode === 429)) {
          expect(headers['x-ratelimit-remaining']).toBe('0');
          expect(Number(headers['retry-after'])).toBeGreaterThan(0);
        }
        expect(await remaining()).toBe(0);
      },
    );
  });

  describe('a GraphQL request', () => {
    it('of 30 aliases spends 30; one of 31 is refused whole then, and spends nothing', async () => {
      const { query, remaining } = await client();
      const first = await query(aliases(30));
      expect([first.statusCode, first.headers['x-ratelimit-remaining']]).toEqual([200, '30']);
      const refused = await query(aliases(31));
      expect(refused.statusCode).toBe(429);
      expect(refused.json()).toEqual({
        errors: [
          {
            message: expect.any(String),
            extensions: { code: 'RATE_LIMITED', status: 429, retryAfter: Number(refused.headers['retry-after']) },
          },
        ],
      });
      expect(refused.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(await remaining()).toBe(30);
      expect((await query(aliases(30))).headers['x-ratelimit-remaining']).toBe('0');
    });

    it.each<[string, object, number, number]>([
      ['that does not parse', { query: '{ pets' }, 400, 1],
      ['that is not valid', { query: '{ a: nothing b: nothing c: nothing }' }, 400, 1],
      ['with too many tokens', { query: `{ ${'__typename '.repeat(2000)} }` }, 400, 1],
      ['without a query', { variables: {} }, 400, 1],
      ['whose operationName is unknown', { query: 'query A { pet(id: 1) { id } }', operationName: 'B' }, 400, 1],
      ['that does not say which of its operations', { query: 'query A { __typename } query B { __typename }' }, 400, 1],
      [
        'with two fields whose variables are wrong',
        { query: 'query ($id: ID!) { a: pet(id: $id) { id } b: pet(id: $id) { id } }' },
        400,
        2,
      ],
      ['with a field that fails', { query: 'mutation { deletePet(input: { id: 404 }) { deletedPetId } }' }, 200, 1],
      ['for rateLimit alone', { query: '{ rateLimit { remaining } __typename }' }, 200, 0],
    ])('%s costs what it should', async (_what, body, status, cost) => {
      const { send, remaining } = await client();
      const response = await send({ method: 'POST', url: '/graphql', payload: body });
      expect([response.statusCode, response.headers['x-ratelimit-remaining']]).toEqual([status, String(60 - cost)]);
      expect(await remaining()).toBe(60 - cost);
    });

    it.each<[string, InjectOptions, number]>([
      ['is not JSON', { method: 'POST', payload: '{', headers: { 'content-type': 'application/json' } }, 400],
      ['is of another type', { method: 'POST', payload: 'x', headers: { 'content-type': 'text/plain' } }, 415],
      ['is too large', { method: 'POST', payload: { query: ' '.repeat(1024 * 1024) } }, 413],
      [
        'has a mutation for GET',
        { method: 'GET', query: { query: 'mutation { createOrder(input: {}) { order { id } } }' } },
        405,
      ],
      [
        'accepts nothing that there is',
        { method: 'POST', payload: { query: aliases(3) }, headers: { accept: 'text/csv' } },
        406,
      ],
    ])('that %s costs 1', async (_what, request, status) => {
      const { send, remaining } = await client();
      expect((await send({ url: '/graphql', ...request })).statusCode).toBe(status);
      expect(await remaining()).toBe(59);
    });

    it('costs the same by GET and by HEAD', async () => {
      const { send, remaining } = await client();
      for (const method of ['GET', 'HEAD'] as const) {
        const response = await send({ method, url: '/graphql', query: { query: aliases(5) } });
        expect(response.statusCode).toBe(200);
      }
      expect(await remaining()).toBe(50);
    });

    it('that costs more than the whole window is bad input and spends 1; when not even that is left, it is refused', async () => {
      const { query, remaining } = await client({ plan: 'enterprise', requestsPerMinute: 3, requestsPerDay: 100 });
      const tooCostly = await query(aliases(4));
      expect(tooCostly.statusCode).toBe(400);
      const message = 'costs more than the 3 that your quota allows: select fewer root fields.';
      expect(tooCostly.json()).toEqual({
        errors: [
          {
            message: `query: ${message}`,
            extensions: { code: 'BAD_USER_INPUT', status: 400, violations: [{ field: 'query', message }] },
          },
        ],
      });
      expect(tooCostly.headers['x-ratelimit-cost']).toBe('1');
      expect(await remaining()).toBe(2);
      await query(aliases(2));
      expect((await query(aliases(4))).statusCode).toBe(429);
    });

    it('is refused before its body is read when nothing is left, even if it would cost nothing', async () => {
      const { query, send } = await client({ plan: 'enterprise', requestsPerMinute: 1, requestsPerDay: 100 });
      await query('{ __typename }');
      for (const payload of ['not JSON', '{"query":"{ rateLimit { remaining } }"}']) {
        const response = await send({
          method: 'POST',
          url: '/graphql',
          payload,
          headers: { 'content-type': 'application/json' },
        });
        expect(response.statusCode).toBe(429);
      }
    });

    it('gets its cost and the figures of the headers by rateLimit', async () => {
      const { query } = await client({ plan: 'pro' });
      const response = await query(
        `{ rateLimit { cost limit remaining resetAt } a: pet(id: 1) { id } b: pet(id: 2) { id } }`,
      );
      const { cost, limit, remaining, resetAt } = response.json().data.rateLimit;
      expect({ cost, limit, remaining }).toEqual({ cost: 3, limit: 300, remaining: 297 });
      expect(response.headers).toMatchObject({ 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': '297' });
      expect(Number(response.headers['x-ratelimit-reset'])).toBe(Math.ceil(Date.parse(resetAt) / 1000));
    });

    it('shows the day when less of it is left than of the minute', async () => {
      const { query } = await client({ plan: 'enterprise', requestsPerMinute: 100, requestsPerDay: 10 });
      const { headers } = await query('{ pets { totalCount } }');
      expect(headers).toMatchObject({
        'x-ratelimit-limit': '10',
        'x-ratelimit-remaining': '9',
        'ratelimit-policy': '"minute";q=100;w=60, "day";q=10;w=86400',
        ratelimit: expect.stringMatching(/^"minute";r=99;t=(60|59), "day";r=9;t=86(400|399)$/),
      });
      expect(Number(headers['x-ratelimit-reset']) - Date.now() / 1000).toBeGreaterThan(86_390);
    });
  });

  describe('what costs nothing', () => {
    it('is OPTIONS, with a key or without, on a path that there is or not', async () => {
      const { send, remaining } = await client();
      const responses = await Promise.all(['/graphql', '/nothing'].map((url) => send({ method: 'OPTIONS', url })));
      expect(responses.map(({ statusCode }) => statusCode)).toEqual([204, 404]);
      for (const { headers } of responses) expect(headers['x-ratelimit-remaining']).toBe('60');
      const without = await service.app.server.inject({
        method: 'OPTIONS',
        url: '/graphql',
        remoteAddress: '10.9.9.9',
      });
      expect([without.statusCode, without.headers['x-ratelimit-remaining']]).toEqual([204, '60']);
      expect(await remaining()).toBe(60);
    });

    it('are the public pages, which have no figures', async () => {
      const { send, remaining } = await client();
      for (const url of ['/healthz', '/readyz', '/metrics', '/', '/robots.txt', '/robots.txt/nothing'])
        expect((await send({ method: 'GET', url })).headers['x-ratelimit-limit']).toBeUndefined();
      expect(await remaining()).toBe(60);
    });
  });

  describe('requests without a valid key', () => {
    const from = (address: string, headers: Record<string, string> = {}) =>
      service.app.server.inject({ url: '/graphql', headers: { 'x-forwarded-for': address, ...headers } });

    it('share the Free figures of their address, and are refused by 429 when nothing is left', async () => {
      const responses = await Promise.all(Array.from({ length: 100 }, () => from('10.0.0.1')));
      expect(tally(responses)).toEqual({ 401: 60, 429: 40 });
      expect((await from('10.0.0.1', { authorization: 'Bearer wrong' })).statusCode).toBe(429);
      expect((await from('10.0.0.2')).statusCode).toBe(401);
    });

    it('do not touch those with a key from the same address', async () => {
      await Promise.all(Array.from({ length: 61 }, () => from('10.0.0.3')));
      const { secret } = await service.createKey();
      const response = await from('10.0.0.3', { 'x-api-key': secret, 'apollo-require-preflight': 'yes' });
      expect([response.statusCode, response.headers['x-ratelimit-remaining']]).toEqual([400, '59']);
    });
  });
});
