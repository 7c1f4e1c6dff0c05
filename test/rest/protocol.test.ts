import { describe, expect, it } from '@jest/globals';

import { startTestApp, type TestApp } from '../support/test-app.ts';

const rest = await startTestApp();
const petId = (await rest.pet()).id;

const vary = 'Authorization, X-API-Key, Accept, Origin';

describe('every response', () => {
  it('says who may keep it, what it depends on, and its request id', async () => {
    const kept = 'private, no-cache';
    for (const [url, status, cacheControl] of [
      [`/categories`, 200, kept],
      [`/inventory/${petId}`, 200, kept],
      ['/pets/999999', 404, 'no-store'],
      ['/pets?limit=0', 400, 'no-store'],
    ] as const) {
      const response = await rest.ask('GET', url, undefined, { 'x-request-id': 'mine' });
      expect(response).toMatchObject({
        status,
        headers: { vary, 'cache-control': cacheControl, 'x-request-id': 'mine', 'x-content-type-options': 'nosniff' },
      });
    }
    const created = await rest.ask('POST', '/categories', { name: 'Cats' });
    expect(created).toMatchObject({ status: 201, headers: { vary, 'cache-control': 'no-store' } });
    const changed = await rest.ask('PATCH', `/pets/${petId}`, { name: 'Rex' });
    expect(changed).toMatchObject({ status: 200, headers: { vary, 'cache-control': kept } });
  });
});

describe('methods', () => {
  const allowed = {
    '/pets': 'GET, HEAD, OPTIONS, POST',
    '/pets/1': 'DELETE, GET, HEAD, OPTIONS, PATCH',
    '/categories': 'GET, HEAD, OPTIONS, POST',
    '/categories/1': 'DELETE, GET, HEAD, OPTIONS, PATCH',
    '/store/orders': 'GET, HEAD, OPTIONS, POST',
    '/store/orders/1': 'DELETE, GET, HEAD, OPTIONS, PATCH',
    '/inventory': 'GET, HEAD, OPTIONS',
    '/inventory/1': 'GET, HEAD, OPTIONS, PATCH',
  };

  it.each(Object.entries(allowed))('of %s are %s: OPTIONS says so, and every other one is 405', async (url, allow) => {
    expect(await rest.ask('OPTIONS', url)).toMatchObject({ status: 204, headers: { allow } });
    const refused = await rest.ask('PUT', url, {});
    expect(refused).toMatchObject({
      status: 405,
      headers: { allow },
      body: { code: 'method_not_allowed', status: 405 },
    });
  });

  it('of a path that is unknown are none', async () => {
    for (const url of ['/animals', '/pets/1/orders', '/store', '/v1/pets']) {
      expect((await rest.ask('GET', url)).status).toBe(404);
      expect((await rest.ask('OPTIONS', url)).status).toBe(404);
    }
  });

  it('include HEAD wherever GET is, with the same status and headers and without a body', async () => {
    const volatile = new Set([
      'ratelimit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'date',
      'x-request-id',
      'transfer-encoding',
      'content-length',
    ]);
    const lasting = (headers: object) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !volatile.has(name)));
    for (const url of ['/pets', `/pets/${petId}`, '/pets/999999', '/categories', '/store/orders', '/pets?limit=0']) {
      const [get, head] = [await rest.ask('GET', url), await rest.ask('HEAD', url)];
      expect([url, head.status, head.text]).toStrictEqual([url, get.status, '']);
      expect(lasting(head.headers)).toStrictEqual(lasting(get.headers));
      // A length that isn't the body's would be a lie; a stream has none.
      expect([undefined, String(Buffer.byteLength(get.text))]).toContain(head.headers['content-length']);
    }
  });

  it('HEAD of a whole collection reads nothing', async () => {
    rest.forgetStatements();
    expect((await rest.ask('HEAD', '/inventory')).status).toBe(200);
    expect(rest.statements).toStrictEqual([]);
  });
});

describe('media types', () => {
  it.each([
    undefined,
    '',
    '*/*',
    'application/json',
    'application/*',
    'text/html, application/json;q=0.1',
    'application/json; charset=utf-8',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    '*/*;q=0, application/json',
    'application/problem+json',
    'text/html, application/problem+json;q=0.1',
  ])('are accepted when Accept is %j', async (accept) => {
    expect((await rest.ask('GET', '/categories', undefined, accept === undefined ? {} : { accept })).status).toBe(200);
  });

  it.each(['text/html', 'application/xml, text/*', '*/*;q=0', 'application/json;q=0, */*', 'application/jsonp'])(
    'are refused when Accept is %j, before anything is done',
    async (accept) => {
      rest.forgetStatements();
      expect(await rest.ask('POST', '/categories', { name: 'Cats' }, { accept })).toMatchObject({
        status: 406,
        body: { code: 'not_acceptable', status: 406 },
      });
      expect(rest.statements).toStrictEqual([]);
    },
  );

  it.each([
    ['POST', '/categories', 'text/plain', undefined],
    ['POST', '/categories', 'application/merge-patch+json', undefined],
    ['POST', '/categories', 'nonsense', undefined],
    ['PATCH', '/categories/1', 'application/json-patch+json', 'application/json, application/merge-patch+json'],
    ['PATCH', '/categories/1', '', 'application/json, application/merge-patch+json'],
  ] as const)('of %s %s are not %j, and a PATCH is told which are', async (method, url, type, patches) => {
    const refused = await rest.ask(method, url, '{"name":"Cats"}', { 'content-type': type });
    expect(refused).toMatchObject({ status: 415, body: { code: 'unsupported_media_type', status: 415 } });
    expect(refused.headers['accept-patch']).toBe(patches);
    expect(refused.headers['accept-encoding']).toBeUndefined();
  });

  it('of a change may be that of a merge patch, whose unknown and read-only fields are ignored', async () => {
    const type = { 'content-type': 'application/merge-patch+json' };
    const changed = await rest.ask('PATCH', `/pets/${petId}`, { name: 'Max', id: 5, unknown: true }, type);
    expect([changed.status, changed.body]).toMatchObject([200, { id: petId, name: 'Max' }]);
  });

  it('may have a charset, in whatever case, and no coding', async () => {
    const type = { 'content-type': 'Application/JSON; charset=UTF-8' };
    expect((await rest.ask('POST', '/categories', '{"name":"Cats"}', type)).status).toBe(201);
    const gzip = { 'content-encoding': 'gzip' };
    for (const path of ['/categories', '/graphql']) {
      const refused = await rest.ask('POST', path, '{"name":"Cats"}', gzip);
      expect([refused.status, refused.headers['accept-encoding']]).toEqual([415, 'identity']);
    }
  });

  it('do not matter to a DELETE, whatever is sent with it', async () => {
    const { id } = await rest.pet();
    expect((await rest.ask('DELETE', `/pets/${id}`, 'why', { 'content-type': 'text/plain' })).status).toBe(204);
  });
});

it('checks in this order: 404 path, 405, 406, 415, Idempotency-Key, 400, 404 id', async () => {
  const wrong = { accept: 'text/html', 'content-type': 'text/plain', 'idempotency-key': '' };
  const status = async (...args: Parameters<TestApp['ask']>): Promise<unknown> => {
    const { status: code, body } = await rest.ask(...args);
    return [code, body.code];
  };
  expect(await status('PUT', '/nothing', 'x', wrong)).toStrictEqual([404, 'not_found']);
  expect(await status('PUT', '/pets', 'x', wrong)).toStrictEqual([405, 'method_not_allowed']);
  expect(await status('POST', '/pets', 'x', wrong)).toStrictEqual([406, 'not_acceptable']);
  expect(await status('POST', '/pets', 'x', { ...wrong, accept: '*/*' })).toStrictEqual([
    415,
    'unsupported_media_type',
  ]);
  const keyed = await rest.ask('POST', '/pets', 'x', { 'idempotency-key': '' });
  expect(keyed.body.message).toContain('Idempotency-Key');
  expect(await status('POST', '/pets', 'x')).toStrictEqual([400, 'bad_request']);
  expect(await status('PATCH', '/pets/007', 'x')).toStrictEqual([400, 'bad_request']);
  expect(await status('PATCH', '/pets/007', { name: 'Rex' }, { 'if-match': '"x"' })).toStrictEqual([404, 'not_found']);
});
