import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { promisify } from 'node:util';

import { expect, it } from '@jest/globals';

import { drain } from '../../../src/platform/http/drain.ts';
import { until } from '../../support/until.ts';
import { type BoundedServer, startBounded } from './bounded-server.ts';
import { parseResponse, receive, send } from './raw-requests.ts';

const countConnections = promisify((server: Server, done: (error: Error | null, count: number) => void) =>
  server.getConnections(done),
);

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A service with a response that waits to be let go, and one that is more than a client's buffers can hold. */
async function startWithSlowRoutes(): Promise<BoundedServer & { release: () => void; hasBegun: Promise<unknown> }> {
  const gate = Promise.withResolvers<void>();
  const bounded = await startBounded({
    routes: (api) => {
      api.get('/slow', async (_request, reply) => {
        api.server.emit('begun', reply.raw);
        await gate.promise;
        return ['slow'];
      });
      api.get('/large', (_request, reply) => {
        api.server.emit('begun', reply.raw);
        void reply.send(Buffer.alloc(64 * 1024 * 1024, 'x'));
      });
    },
  });
  return { ...bounded, release: gate.resolve, hasBegun: once(bounded.server.server, 'begun') };
}

it('finishes what is under way, asks its client to close, and closes idle connections at once', async () => {
  const { server, port, release, hasBegun } = await startWithSlowRoutes();
  const idle = await send(port, request('/things'));
  await once(idle, 'data');
  const busy = await send(port, request('/slow'));
  await hasBegun;
  const response = receive(busy);
  const drained = drain(server, { delaySeconds: 0, timeoutSeconds: 60 });
  await once(idle, 'close');
  release();
  expect(parseResponse(await response)).toMatchObject({
    status: 200,
    headers: { connection: 'close' },
    body: '["slow"]',
  });
  await drained;
  await expect(fetch(`http://127.0.0.1:${port}/things`)).rejects.toThrow('fetch failed');
});

it('does not cut off a client that is still reading a response whose last byte is queued', async () => {
  const { server, port, hasBegun } = await startWithSlowRoutes();
  const socket = await send(port, request('/large'));
  const [response] = (await hasBegun) as [ServerResponse];
  if (!response.writableEnded) await once(response, 'prefinish');
  const drained = drain(server, { delaySeconds: 0, timeoutSeconds: 60 });
  expect((await receive(socket)).length).toBeGreaterThan(64 * 1024 * 1024);
  await drained;
});

it('serves new requests during the delay, on connections that end with their response', async () => {
  const { server, port } = await startWithSlowRoutes();
  const drained = drain(server, { delaySeconds: 1, timeoutSeconds: 60 });
  const response = parseResponse(await receive(await send(port, request('/things'))));
  expect(response).toMatchObject({ status: 200, headers: { connection: 'close' } });
  await drained;
});

it('cuts off at the timeout what is not finished', async () => {
  const { server, port, hasBegun, release } = await startWithSlowRoutes();
  const socket = await send(port, request('/slow'));
  await hasBegun;
  const response = receive(socket);
  await drain(server, { delaySeconds: 0, timeoutSeconds: 0.05 });
  expect(await response).toBe('');
  release();
});

it('serves the connections that wait to be accepted when listening stops', async () => {
  const { server, port } = await startWithSlowRoutes();
  const waiting = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
  const responses = waiting.map((socket) => receive(socket));
  for (const socket of waiting) socket.on('error', () => undefined).write(request('/things'));
  await Promise.all(waiting.map((socket) => once(socket, 'connect')));
  await Promise.all([drain(server, { delaySeconds: 0, timeoutSeconds: 60 }), ...responses]);
  const statuses = (await Promise.all(responses)).map((response) => parseResponse(response).status);
  expect(statuses).toEqual(waiting.map(() => 200));
});

it('waits a moment for the first request of a connection, and closes it when none comes', async () => {
  const { server, port } = await startWithSlowRoutes();
  const late = await send(port, '');
  const silent = await send(port, '');
  await until(() => countConnections(server.server).then((count) => count === 2));
  const drained = drain(server, { delaySeconds: 0, timeoutSeconds: 60 });
  await until(() => !server.server.listening);
  const response = receive(late);
  late.write(request('/things'));
  expect(parseResponse(await response)).toMatchObject({ status: 200, headers: { connection: 'close' } });
  await Promise.all([drained, once(silent, 'close')]);
});
