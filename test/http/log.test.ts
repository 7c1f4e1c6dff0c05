import { once } from 'node:events';
import { Readable } from 'node:stream';

import { expect, it } from '@jest/globals';

import { until } from '../support/until.ts';
import { anyKey, startHttp } from './http-harness.ts';
import { portOf, send } from '../platform/http/raw-requests.ts';

const stream = Readable.from(['late']);

const http = await startHttp({
  routes: async (api) => {
    api.get('/careless', anyKey, async (request) => {
      request.log.warn({ req: request, headers: request.headers }, 'careless');
      return [];
    });
    api.get('/never', anyKey, () => void api.server.emit('begun'));
    api.get('/late', anyKey, async ({ raw }, reply) => {
      api.server.emit('begun');
      await once(raw.socket, 'close');
      return reply.send(stream);
    });
  },
});
const port = await portOf(http.server);

/** The line of one request, which may be written a moment after its response has arrived. */
async function lineOf(requestId: string): Promise<Record<string, unknown>> {
  const find = () => http.log.find((line) => line['requestId'] === requestId && 'ms' in line);
  await until(() => find() !== undefined);
  return find()!;
}

const get = (path: string, headers: Record<string, string>) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { ...headers, connection: 'close' } });

it('has one line for each response, with route, path, status and time', async () => {
  await get('/things', { 'x-request-id': 'listed' });
  expect(await lineOf('listed')).toMatchObject({
    level: 30,
    method: 'GET',
    route: '/things',
    path: '/things',
    status: 200,
    ms: expect.any(Number),
    msg: 'response sent',
  });
  await get('/nothing', { 'x-request-id': 'missed' });
  expect(await lineOf('missed')).toMatchObject({ path: '/nothing', status: 404, code: 'not_found' });
});

it('never has a key, a cookie or a query in it, even when a careless line logs the request', async () => {
  const secret = 'hunter2';
  await get(`/careless?key=${secret}`, {
    'x-request-id': 'careless',
    authorization: secret,
    'x-api-key': secret,
    cookie: secret,
  });
  await lineOf('careless');
  const lines = http.log.filter(({ requestId }) => requestId === 'careless');
  expect(lines).toHaveLength(2);
  expect(JSON.stringify(lines)).not.toMatch(secret);
});

it('has public pages only when they fail or at the level debug', async () => {
  await get('/healthz', { 'x-request-id': 'probe' });
  expect(await lineOf('probe')).toMatchObject({ level: 20 });
});

it('has a client that disconnects before its response', async () => {
  const begun = once(http.server.server, 'begun');
  const socket = await send(port, 'GET /never HTTP/1.1\r\nHost: x\r\nX-Request-Id: left\r\n\r\n');
  await begun;
  socket.destroy();
  expect(await lineOf('left')).toMatchObject({
    status: 499,
    address: '127.0.0.1',
    msg: 'client disconnected before the response was sent',
  });
});

it('has no error when a client disconnects before its stream begins', async () => {
  const [begun, ended] = [once(http.server.server, 'begun'), once(stream, 'close')];
  const socket = await send(port, 'GET /late HTTP/1.1\r\nHost: x\r\nX-Request-Id: late\r\n\r\n');
  await begun;
  socket.destroy();
  await ended;
  expect(http.log.filter(({ requestId, level }) => requestId === 'late' && Number(level) > 30)).toEqual([]);
});

it.each([
  ['network', '127.0.0.0/24'],
  ['off', undefined],
] as const)(
  'has of the address of a client what is asked for, also where the request is broken: %s',
  async (logAddresses, address) => {
    const other = await startHttp({ logAddresses });
    const otherPort = await portOf(other.server);
    await fetch(`http://127.0.0.1:${otherPort}/things`, { headers: { connection: 'close' } });
    await send(otherPort, 'GET /things HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n');
    const lines = (): Record<string, unknown>[] => other.log.filter((line) => 'ms' in line);
    await until(() => lines().length === 2);
    expect(lines().map((line) => line['address'])).toEqual([address, address]);
    expect(JSON.stringify(lines())).not.toContain('127.0.0.1');
  },
);
