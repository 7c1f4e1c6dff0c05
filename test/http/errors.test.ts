import { describe, expect, it } from '@jest/globals';

import { DomainError, notFound, unavailable, validationFailed } from '../../src/domain/errors.ts';
import { anyKey, startHttp } from './http-harness.ts';

const failures: Record<string, () => Error> = {
  missing: () => notFound('pet', '7'),
  conflict: () => new DomainError('CONFLICT', 'It has orders.'),
  invalid: () => validationFailed([{ field: 'name', message: 'is missing' }]),
  lost: () => unavailable(new Error('connect ECONNREFUSED 10.0.0.7')),
  bug: () => new TypeError('x of undefined, password hunter2'),
};

const http = await startHttp({
  routes: async (api) => {
    api.get('/fail/:how', anyKey, async (request) => {
      throw failures[(request.params as { how: string }).how]!();
    });
  },
});

describe('a failure', () => {
  it.each([
    ['missing', 404, 'not_found', 'Not found'],
    ['conflict', 409, 'conflict', 'Conflict'],
    ['invalid', 400, 'validation_failed', 'Validation failed'],
    ['lost', 503, 'unavailable', 'Unavailable'],
    ['bug', 500, 'internal_error', 'Internal error'],
  ])('of the kind %s is exactly the Error object, or a problem of RFC 9457', async (how, status, code, title) => {
    const url = `/fail/${how}`;
    const response = await http.server.inject(url);
    expect(response.json()).toEqual({ code, message: expect.any(String), status });
    const problem = await http.server.inject({ url, headers: { accept: 'application/problem+json' } });
    const { message } = response.json();
    const violations = how === 'invalid' ? [{ field: 'name', message: 'is missing' }] : undefined;
    expect(problem.json()).toEqual({
      type: `/docs#${code}`,
      title,
      status,
      detail: message,
      code,
      message,
      violations,
    });
    for (const [{ statusCode, headers }, type] of [
      [response, 'application/json; charset=utf-8'],
      [problem, 'application/problem+json; charset=utf-8'],
    ] as const) {
      expect(statusCode).toBe(status);
      expect(headers).toMatchObject({
        'content-type': type,
        'cache-control': 'no-store',
        vary: 'Authorization, X-API-Key, Accept, Origin',
        'x-request-id': expect.stringMatching(/.{36}/),
      });
    }
  });

  describe('is a problem of RFC 9457', () => {
    const contentTypeFor = async (accept: string, url = '/fail/missing') =>
      (await http.server.inject({ url, headers: { accept } })).headers['content-type'];

    it.each([
      'application/problem+json',
      'Application/Problem+JSON; q=0.3',
      'application/json, application/problem+json',
      'application/problem+json, */*',
      'application/json;q=0.8, application/problem+json;q=0.9',
    ])('for %s', async (accept) => {
      expect(await contentTypeFor(accept)).toBe('application/problem+json; charset=utf-8');
    });

    it.each([
      '*/*',
      'application/*',
      'application/json',
      'application/problem+xml',
      'application/problem+json;q=0',
      'application/json, application/problem+json;q=0.9',
      'application/problem+json;q=0.5, */*',
    ])('but not for %s', async (accept) => {
      expect(await contentTypeFor(accept)).toBe('application/json; charset=utf-8');
    });

    it('only in REST', async () => {
      expect(await contentTypeFor('application/problem+json', '/graphql')).toBe('application/json; charset=utf-8');
      expect(await contentTypeFor('application/problem+json', '/graphiql/missing')).toMatch('text/plain');
    });
  });

  it('has Retry-After when the store is lost', async () => {
    expect((await http.server.inject('/fail/lost')).headers['retry-after']).toBe('5');
  });

  it('that is unexpected has its text in the log only, under the id of the response', async () => {
    const response = await http.server.inject({ url: '/fail/bug', headers: { 'x-request-id': 'the-bug' } });
    expect(response.body).not.toMatch(/hunter2|undefined/);
    const line = http.log.find(({ requestId, level }) => requestId === 'the-bug' && level === 50);
    expect(line).toMatchObject({ err: { message: expect.stringMatching('hunter2'), stack: expect.any(String) } });
  });

  it('on /graphql is a GraphQL response, in the media type that is asked for', async () => {
    const request = {
      method: 'POST',
      url: '/graphql',
      payload: 'x',
      headers: { 'content-type': 'text/plain' },
    } as const;
    const plain = await http.server.inject(request);
    expect(plain.statusCode).toBe(415);
    expect(plain.json()).toEqual({
      errors: [{ message: expect.any(String), extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 } }],
    });
    expect(plain.headers['content-type']).toMatch(/^application\/json/);
    const typeFor = async (accept: string) =>
      (await http.server.inject({ ...request, headers: { ...request.headers, accept } })).headers['content-type'];
    expect(await typeFor('Application/GraphQL-Response+JSON')).toMatch(/^application\/graphql-response\+json/);
    expect(await typeFor('application/json, application/graphql-response+json;q=0.1')).toMatch(/^application\/json/);
  });
});

describe('a request without a route', () => {
  it('is 404 for an unknown path, whatever its body is', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await http.server.inject({ method: 'POST', url: '/nothing', payload: '{', headers });
    expect(response.json()).toMatchObject({ status: 404, code: 'not_found' });
  });

  it.each([
    ['PROPFIND', '/things/7', 'OPTIONS, PATCH'],
    ['PUT', '/%74hings', 'GET, HEAD, OPTIONS, POST'],
  ])('is 405 with Allow for %s %s', async (method, url, allow) => {
    const response = await http.server.inject({ method: method as 'GET', url });
    expect(response.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(response.headers.allow).toBe(allow);
  });

  it.each([
    ['with an empty parameter', '/things/'],
    ['that is decoded once, not twice', '/%2574hings'],
  ])('is 404 for a path %s, for OPTIONS too', async (_what, url) => {
    for (const method of ['PATCH', 'PUT', 'OPTIONS'] as const) {
      expect((await http.server.inject({ method, url })).json()).toMatchObject({ status: 404, code: 'not_found' });
    }
  });

  it('passes the hooks of the API first, and public pages never do', async () => {
    const seen: string[] = [];
    const watched = await startHttp({
      routes: async (api) => {
        api.addHook('onRequest', async (request) => void seen.push(request.url));
      },
    });
    for (const url of ['/things', '/healthz', '/robots.txt/below']) await watched.server.inject(url);
    expect(seen).toEqual(['/things']);
  });
});

describe('a path', () => {
  it.each(['/things/%zz', '/%ff', '/nothing%'])('that cannot be decoded is 400: %s', async (url) => {
    const response = await http.server.inject(url);
    expect(response.json()).toMatchObject({ status: 400, code: 'bad_request' });
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': expect.any(String) });
  });

  it('may have a parameter of any length that a request can have', async () => {
    const id = '7'.repeat(8000);
    expect((await http.server.inject({ method: 'PATCH', url: `/things/${id}` })).json()).toEqual({ id });
  });
});

describe('a response of the API', () => {
  it('is never stored on /graphql', async () => {
    const { headers } = await http.server.inject('/graphql');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', vary: 'Authorization, X-API-Key, Accept, Origin' });
  });

  it('repeats a harmless request id, and replaces any other', async () => {
    const idFor = async (given: string) =>
      (await http.server.inject({ url: '/things', headers: { 'x-request-id': given } })).headers['x-request-id'];
    expect(await idFor('my.Request_1-2')).toBe('my.Request_1-2');
    expect(await idFor('a'.repeat(128))).toBe('a'.repeat(128));
    for (const bad of ['a'.repeat(129), 'a b', 'ä', '']) expect(await idFor(bad)).toMatch(/^[0-9a-f-]{36}$/);
  });
});

it('the start fails with a route of the API that names no scope', async () => {
  const starting = startHttp({ routes: async (api) => void api.get('/open', async () => []) });
  await expect(starting).rejects.toThrow("The route /open doesn't say which scopes it needs.");
});
