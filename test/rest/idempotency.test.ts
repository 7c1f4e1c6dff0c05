import { request } from 'node:http';

import { expect, it } from '@jest/globals';

import { adminKey } from '../support/service.ts';
import { listenHere, startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

const rest = await startTestApp();

let keys = 0;
const newKey = () => ({ 'idempotency-key': `key ${(keys += 1)}` });

const count = async (name: string): Promise<number> => {
  const [row] = await rest.sql('select count(*)::int as n from categories where name = $1', [name]);
  return row!['n'] as number;
};

const lasting = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(['etag', 'location', 'content-type', 'cache-control'].map((name) => [name, headers[name]]));

it('replays the first success, byte for byte, and says so', async () => {
  const { id: categoryId } = (await rest.ask('POST', '/categories', { name: 'Dogs' })).body;
  const requests = [
    ['/pets', { name: 'Rex', categoryId }],
    ['/categories', { name: 'Replayed' }],
    ['/store/orders', { quantity: 1, shipDate: '2026-12-24T10:00:00Z' }],
  ] as const;
  for (const [url, body] of requests) {
    const key = newKey();
    const first = await rest.ask('POST', url, body, key);
    const second = await rest.ask('POST', url, body, key);
    expect([first.status, second.status, second.text]).toStrictEqual([201, 201, first.text]);
    expect(lasting(second.headers)).toStrictEqual(lasting(first.headers));
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(second.headers['idempotent-replayed']).toBe('true');
  }
  expect(await count('Replayed')).toBe(1);
});

it('replays nothing to a key that has lost the scope', async () => {
  const { id, secret } = await rest.createKey({ plan: 'pro', scopes: ['write'] });
  const key = { ...newKey(), authorization: `Bearer ${secret}` };
  const create = () => rest.ask('POST', '/categories', { name: 'Mine' }, key);
  expect((await create()).status).toBe(201);
  await rest.sql(`update api_keys set scopes = '{read,webhooks}' where id = $1`, [id]);
  await until(async () => (await create()).status === 403);
});

it('replays the first response, though the resource has changed or is gone', async () => {
  const key = newKey();
  const first = await rest.ask('POST', '/categories', { name: 'Short-lived' }, key);
  await rest.ask('DELETE', first.headers['location']!);
  expect(await rest.ask('POST', '/categories', { name: 'Short-lived' }, key)).toMatchObject({
    status: 201,
    text: first.text,
  });
  expect(await count('Short-lived')).toBe(0);
});

it('refuses a key that was used with another path, query or body', async () => {
  const key = newKey();
  await rest.ask('POST', '/categories', '{"name":"Once"}', key);
  for (const [url, body] of [
    ['/categories', '{"name": "Once"}'],
    ['/categories', '{"name":"Twice"}'],
    ['/categories?a=1', '{"name":"Once"}'],
    ['/pets', '{"name":"Once"}'],
    ['/categories', 'not JSON'],
  ] as const) {
    expect(await rest.ask('POST', url, body, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused', status: 422 },
    });
  }
  expect((await rest.ask('POST', '/categories', '{"name":"Once"}', key)).headers['idempotent-replayed']).toBe('true');
});

it('does the work once for twenty equal requests at the same time', async () => {
  for (const name of ['Parallel 1', 'Parallel 2', 'Parallel 3']) {
    const key = newKey();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => rest.ask('POST', '/categories', { name }, key)),
    );
    expect(responses.filter(({ status }) => ![201, 409].includes(status))).toStrictEqual([]);
    const done = responses.filter(({ status }) => status === 201);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await count(name)).toBe(1);
    expect((await rest.ask('POST', '/categories', { name }, key)).text).toBe(done[0]!.text);
  }
});

it('leaves nothing behind when the request is refused, so that it can be sent again', async () => {
  const key = newKey();
  expect((await rest.ask('POST', '/categories', { name: '' }, key)).status).toBe(400);
  expect((await rest.ask('POST', '/categories', 'x', key)).status).toBe(400);
  expect((await rest.ask('POST', '/pets', { name: 'Rex', categoryId: 999_999 }, key)).status).toBe(400);
  const first = await rest.ask('POST', '/categories', { name: 'At last' }, key);
  expect([first.status, first.headers['idempotent-replayed']]).toStrictEqual([201, undefined]);
});

it('creates with a key exactly what it creates without one', async () => {
  const { id: petId, categoryId } = await rest.pet();
  const odd = `What? $1 ?? \\ 'one' "two" :name %s {} \u00e9 🐕 --`;
  for (const [url, body] of [
    ['/pets', { name: odd, categoryId, status: 'sold' }],
    ['/categories', { name: odd, description: `${odd}\n\t` }],
    ['/categories', { name: odd }],
    ['/store/orders', { petId, quantity: 2 ** 31 - 1, shipDate: '0001-01-01T00:00:00.001Z', complete: true }],
    ['/store/orders', { shipDate: '9999-12-31T23:59:59.999Z' }],
    ['/store/orders', {}],
  ] as const) {
    const [plain, keyed] = [await rest.ask('POST', url, body), await rest.ask('POST', url, body, newKey())];
    expect(keyed).toMatchObject({ status: 201, body: { ...plain.body, id: keyed.body.id } });
    expect(plain.body).toMatchObject(body);
    for (const { headers, text } of [plain, keyed]) {
      expect((await rest.ask('GET', headers['location']!)).text).toBe(text);
    }
  }
});

it('ignores the key of a request that is no POST', async () => {
  const key = { 'idempotency-key': 'x'.repeat(300) };
  const { id } = await rest.pet();
  expect((await rest.ask('GET', `/pets/${id}`, undefined, key)).status).toBe(200);
  expect((await rest.ask('PATCH', `/pets/${id}`, { name: 'Max' }, key)).status).toBe(200);
});

it.each([
  ['/categories', { name: 'Two keys' }],
  ['/graphql', { query: 'mutation { createCategory(input: { name: "Two keys" }) { category { id } } }' }],
])('refuses a request to %s with two keys, of which nobody knows which one is meant', async (url, body) => {
  const server = await listenHere({});
  const [status, text] = await new Promise<[number | undefined, string]>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${adminKey}`,
      'content-type': 'application/json',
      'idempotency-key': ['a', 'b'],
    };
    const sent = request(`${server.address}${url}`, { method: 'POST', headers }, (response) => {
      response.setEncoding('utf8').once('data', (data: string) => resolve([response.statusCode, data]));
    });
    sent.on('error', reject).end(JSON.stringify(body));
  });
  expect([status, text]).toEqual([400, expect.stringContaining('Idempotency-Key: must be sent once')]);
});

it('takes one connection for a request with a key', async () => {
  rest.forgetStatements();
  await rest.ask('POST', '/categories', { name: 'One connection' }, newKey());
  expect(rest.statements.filter((sql) => sql === 'begin')).toHaveLength(1);
  expect(rest.statements[0]).toBe('begin');
  expect(rest.statements.at(-1)).toBe('commit');
});
