import { describe, expect, it } from '@jest/globals';
import type { LightMyRequestResponse } from 'fastify';

import { startSampleServer } from './sample-server.ts';

const sample = await startSampleServer();

const big = '9007199254740993';

/** A GraphQL response that was refused before anything was executed. */
function expectRefused(response: LightMyRequestResponse, status: number, code: string, message: RegExp): void {
  const body = response.json();
  expect(Object.keys(body)).toEqual(['errors']);
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0].message).toMatch(message);
  expect(body.errors[0].extensions).toEqual({ code, status });
  expect(response.statusCode).toBe(status);
  expect(response.headers['content-type']).toMatch(/^application\/json; charset=utf-8$/);
  expect(response.headers['cache-control']).toBe('no-store');
}

const nested = (levels: number): string => '['.repeat(levels) + big + ']'.repeat(levels);

/** A document of so many bytes; as JSON it takes 6 for each character of its comment. */
const documentOf = (bytes: number): string => {
  const text = `{ echo(text: "a") } #${'é'.repeat(10_000)}`;
  const padded = text + 'x'.repeat(bytes - Buffer.byteLength(text));
  return JSON.stringify({ query: padded }).replace(/[xé]/g, (char) => (char === 'x' ? '\\u0078' : '\\u00e9'));
};
const overEvents = { accept: 'text/event-stream' };

describe('a document', () => {
  it('may have 64 KiB in UTF-8, however many it takes in JSON, and not one byte more', async () => {
    expect((await sample.post(documentOf(65_536))).json()).toEqual({ data: { echo: 'a' } });
    const limit = /65537 bytes.*at most 65536/;
    expectRefused(await sample.post(documentOf(65_537)), 400, 'GRAPHQL_VALIDATION_FAILED', limit);
    const asEvent = await sample.post(documentOf(65_537), overEvents);
    expect(asEvent.body).toMatch(limit);
  });

  it('is not looked at in a body of too many values, whatever is accepted', async () => {
    const body = `{"query":"{ echo }","variables":{"a":[${'{},'.repeat(10_000)}1]}}`;
    for (const accept of ['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0', 'application/json'])
      expectRefused(await sample.post(body, { accept }), 400, 'BAD_REQUEST', /10,000 values/);
  });
});

describe('POST', () => {
  it.each([
    ['not JSON', '{"query":', 400, 'BAD_REQUEST', /not valid JSON/],
    ['an empty body', '', 400, 'BAD_REQUEST', /not valid JSON|empty/],
    ['too deep for any parser', `${'['.repeat(200_000)}${big}`, 400, 'BAD_REQUEST', /500 levels/],
    ['variables too deep', `{"query":"{ echo }","variables":{"a":${nested(500)}}}`, 400, 'BAD_REQUEST', /500 levels/],
    [
      'too many values',
      `{"query":"{ echo }","extensions":{"a":[${'9e99,'.repeat(200_000)}1]}}`,
      400,
      'BAD_REQUEST',
      /10,000 values/,
    ],
    ['{}', '{}', 400, 'BAD_REQUEST', /needs a `query`/],
    ['null', 'null', 400, 'BAD_REQUEST', /must be a JSON object/],
    ['a string', '"{ echo }"', 400, 'BAD_REQUEST', /must be a JSON object/],
    ['a list', '[{"query":"{ echo }"}]', 400, 'BAD_REQUEST', /batches are not offered/],
    ['no query', '{"variables":{}}', 400, 'BAD_REQUEST', /needs a `query`/],
    ['a query that is no string', '{"query":{"a":1}}', 400, 'BAD_REQUEST', /`query` must be a string/],
    ['variables in a list', '{"query":"{ echo }","variables":[1]}', 400, 'BAD_REQUEST', /`variables`.*object/],
    ['variables in a string', '{"query":"{ echo }","variables":"{}"}', 400, 'BAD_REQUEST', /`variables`.*object/],
    [
      'an operation name that is a number',
      '{"query":"{ echo }","operationName":1}',
      400,
      'BAD_REQUEST',
      /`operationName` must be a string/,
    ],
    ['more than 1 MiB', JSON.stringify({ query: ' '.repeat(1_048_576) }), 413, 'PAYLOAD_TOO_LARGE', /1 MiB/],
  ])('refuses %s', async (_name, body, status, code, message) => {
    expectRefused(await sample.post(body), status, code, message);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
  ])('refuses %s', async (type) => {
    const response = await sample.post('{"query":"{ echo }"}', { 'content-type': type, 'x-api-key': 'any' });
    expectRefused(response, 415, 'UNSUPPORTED_MEDIA_TYPE', /application\/json/);
  });

  it('takes 1 MiB exactly', async () => {
    const body = { query: '{ echo }', variables: { a: '' } };
    body.variables.a = 'x'.repeat(1_048_576 - JSON.stringify(body).length);
    const response = await sample.post(body);
    expect(response.json()).toEqual({ data: { echo: null } });
  });

  it('is UTF-8, with or without a byte order mark', async () => {
    const bytes = Buffer.from('{"query":"{ echo(text: \\"?\\") }"}');
    const marked = await sample.post(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]));
    expect(marked.json()).toEqual({ data: { echo: '?' } });
    bytes[bytes.indexOf('?')] = 0xff;
    expectRefused(await sample.post(bytes), 400, 'BAD_REQUEST', /UTF-8|valid JSON/);
  });

  it('is not fooled by __proto__', async () => {
    const response = await sample.post('{"__proto__":{"query":"{ echo }"}}');
    expect(response.statusCode).toBe(400);
    const result = await sample.post(
      `{"query":"query ($text: String) { echo(text: $text) }","variables":{"__proto__":{"text":"${big}"}}}`,
    );
    expect(result.json()).toEqual({ data: { echo: null } });
    expect(({} as Record<string, unknown>)['text']).toBeUndefined();
  });

  it.each([
    ['application/json', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
    ['text/html, */*;q=0.1', 'application/json; charset=utf-8'],
    ['Application/*', 'application/json; charset=utf-8'],
    ['multipart/mixed, application/json', 'application/json; charset=utf-8'],
  ])('responds to Accept: %s with %s', async (accept, type) => {
    const response = await sample.post({ query: '{ echo }' }, { accept });
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, type]);
  });

  it.each(['text/plain', 'application/json;q=0', 'multipart/mixed', '*/*, application/*;q=0.0'])(
    'refuses Accept: %s, which does not allow JSON, before it executes anything',
    async (accept) => {
      const response = await sample.post({ query: '{ echo }' }, { accept });
      expectRefused(response, 406, 'NOT_ACCEPTABLE', /Accept header/);
    },
  );
});

describe('GET', () => {
  it('executes a query, also by HEAD, without a body', async () => {
    const query = { query: 'query A { echo(text: "a") } query B { echo(text: "b") }', operationName: 'B' };
    const response = await sample.get(query);
    expect(response.json()).toEqual({ data: { echo: 'b' } });
    const head = await sample.server.inject({
      method: 'HEAD',
      url: '/graphql',
      query,
      headers: { 'x-api-key': 'any' },
    });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(response.headers['content-length']);
  });

  it.each(['variables', 'extensions'])('refuses %s of more than 500 levels', async (name) => {
    const url = (levels: number): string =>
      `/graphql?query={echo}&${name}=${encodeURIComponent(`{"a":${nested(levels)}}`)}`;
    const headers = { authorization: 'any' };
    for (const more of [{}, { 'content-type': 'application/json' }]) {
      const send = (levels: number) => sample.server.inject({ url: url(levels), headers: { ...headers, ...more } });
      expect((await send(499)).statusCode).toBe(200);
      expectRefused(await send(500), 400, 'BAD_REQUEST', /500 levels/);
    }
  });

  it('refuses a mutation', async () => {
    const response = await sample.get({ query: 'mutation { fail(how: BUG) }' });
    expectRefused(response, 405, 'METHOD_NOT_ALLOWED', /only support query operations/);
    expect(response.headers['allow']).toBe('POST');
  });

  it.each([
    [{ variables: '{"id":1}' }, /needs a `query`/],
    [{ query: '{ echo }', variables: '{' }, /`variables` is not valid JSON/],
    [{ query: '{ echo }', variables: `{${big}` }, /`variables` is not valid JSON/],
    [{ query: '{ echo }', variables: `[${big}]` }, /`variables` must be a JSON object/],
    [{ query: '{ echo }', variables: big }, /`variables` must be a JSON object/],
  ])('refuses %j', async (query, message) => {
    expectRefused(await sample.get(query), 400, 'BAD_REQUEST', message);
  });

  it('takes each parameter that is empty as left out', async () => {
    const whole = await sample.get({ query: '{ echo }' });
    for (const name of ['operationName', 'variables', 'extensions', 'documentId']) {
      const { statusCode, body } = await sample.get({ query: '{ echo }', [name]: '' });
      expect([name, statusCode, body]).toEqual([name, 200, whole.body]);
    }
  });

  it.each(['query', 'operationName', 'variables', 'extensions', 'documentId'])('refuses %s twice', async (name) => {
    const url = `/graphql?query={echo}&${name}={}&${name}={}`;
    const response = await sample.server.inject({ url, headers: { 'x-api-key': 'any' } });
    expectRefused(response, 400, 'BAD_REQUEST', /must be sent once/);
  });

  it('takes no Content-Type but JSON, which browsers ask about before they send it', async () => {
    const send = (type: string) =>
      sample.server.inject({ url: '/graphql?query={echo}', headers: { 'content-type': type } });
    expect((await send('application/json; charset=utf-8')).statusCode).toBe(200);
    for (const type of ['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded'])
      expectRefused(await send(type), 415, 'UNSUPPORTED_MEDIA_TYPE', /without Content-Type/);
  });

  it('refuses what another site can have a browser send', async () => {
    const response = await sample.get({ query: '{ echo }' }, { 'x-api-key': '' });
    expectRefused(response, 400, 'BAD_REQUEST', /Cross-Site Request Forgery/);
    for (const header of ['authorization', 'x-api-key', 'apollo-require-preflight']) {
      const allowed = await sample.get({ query: '{ echo }' }, { 'x-api-key': '', [header]: 'any' });
      expect(allowed.statusCode).toBe(200);
    }
  });

  it('has no page for browsers: nothing is loaded from elsewhere', async () => {
    const response = await sample.get({}, { accept: 'text/html,*/*;q=0.8' });
    expectRefused(response, 400, 'BAD_REQUEST', /needs a `query`/);
  });
});

it.each(['PUT', 'PATCH', 'DELETE'] as const)('refuses %s with the methods that there are', async (method) => {
  const response = await sample.server.inject({ method, url: '/graphql' });
  expectRefused(response, 405, 'METHOD_NOT_ALLOWED', /GET, HEAD, OPTIONS, POST/);
  expect(response.headers['allow']).toBe('GET, HEAD, OPTIONS, POST');
});
