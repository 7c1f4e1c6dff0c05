import { expect, it } from '@jest/globals';

import { RequestMemory } from '../../src/platform/callers/memory.ts';
import { startTestApp } from '../support/test-app.ts';

const mebibyte = 1024 * 1024;
const most = 1.6 * 1_000_000;

const service = await startTestApp({}, { httpLimits: { maxMemoryOfClient: 2 * mebibyte, memoryWaitMillis: 1 } });
const { id, secret } = await service.createKey({ plan: 'business' });
const { server } = service.app;
const other = new RequestMemory(server.memory, server.callers.for(id));
const get = async (url: string) =>
  (await service.app.server.inject({ url, headers: { 'x-api-key': secret } })).statusCode;
const send = (query: string, variables?: Record<string, unknown>) => service.graphql(query, variables, secret);

const page = 'edges { node { name category { name description a: description } } }';
const longPage = `{ pets(first: 100) { ${page} } }`;

it('a result that is estimated to be large is refused 503 before it is executed while other requests of the client hold the memory', async () => {
  other.hold(most);
  const { status, errors, headers } = await send(longPage);
  expect([status, errors[0]!.extensions.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect((await send(`{ pets(first: 5) { ${page} } }`)).status).toBe(200);
  expect((await service.graphql(longPage)).status).toBe(200);
  other.hold(0);
  for (let time = 0; time < 3; time += 1) expect((await send(longPage)).status).toBe(200);
});

it('results are known by their page sizes, also those in variables', async () => {
  other.hold(most);
  const query = `query ($n: Int!) { pets(first: $n) { ${page} } }`;
  expect((await send(query, { n: 5 })).status).toBe(200);
  expect((await send(query, { n: 100 })).status).toBe(503);
  other.hold(0);
});

it('pages of REST are known by their limit and their longest rows', async () => {
  other.hold(most);
  expect(await get('/categories?limit=1000')).toBe(503);
  for (const path of ['/categories?limit=10', '/inventory?limit=1000', '/pets?limit=100'])
    expect(await get(path)).toBe(200);
  other.hold(0);
  for (let time = 0; time < 3; time += 1) expect(await get('/categories?limit=1000')).toBe(200);
});

it('nothing begins while its client holds everything', async () => {
  other.hold(2 * mebibyte);
  // A body that doesn't arrive with its headers isn't waited for.
  expect([await get('/pets?limit=1'), (await send('{ rateLimit { cost } }')).status]).toEqual([503, 429]);
  other.hold(0);
  expect(await get('/pets?limit=1')).toBe(200);
});

it('one client may hold 32 MiB, and all of them 128', async () => {
  const { memory } = (await startTestApp()).app.server;
  const ids = ['1', '2', '3', '4'];
  const leases = ids.map((each) => memory.takeNow({ id: each }, 32 * mebibyte));
  expect(memory.limitFor({ id: '1' }, 1)).toBe('client');
  expect(memory.limitFor({ id: '5' }, 1)).toBe('all');
  for (const lease of leases) lease.release();
});

it('all that was held is free when the responses have been sent', () => {
  expect(service.app.server.memory.held).toBe(0);
});
