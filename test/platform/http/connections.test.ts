import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, Socket } from 'node:net';

import { expect, it } from '@jest/globals';

import { Callers } from '../../../src/platform/callers/index.ts';
import { sendChunks } from '../../../src/platform/http/bounded-request.ts';
import { defaultHttpLimits } from '../../../src/platform/http/limits.ts';
import { ClientConnection, type ConnectionOptions } from '../../../src/platform/http/connection.ts';
import { ProbeRate } from '../../../src/platform/http/probe-rate.ts';
import { until } from '../../support/until.ts';
import { atEnd } from '../../support/at-end.ts';
import { holdLoop } from '../../support/measurement.ts';
import { listen } from '../../support/listen.ts';
import { type BoundedServer, startBounded } from './bounded-server.ts';
import { receive, requestText, respond, send } from './raw-requests.ts';

const mebibyte = 1024 * 1024;
const large = Buffer.alloc(8 * mebibyte, 'x');
const largeChunks = Array.from({ length: 128 }, (_, index) => large.subarray(index * 65_536, (index + 1) * 65_536));
const largePaths = ['/large', '/large-chunks'];

interface Harness extends BoundedServer {
  /** The responses of the requests for `/slow` that have slow. */
  readonly slow: ServerResponse[];
  /** The keys of the requests for `/busy`, each of which holds the event loop, in the order in which they begin. */
  readonly busy: string[];
}

type HarnessLimits = NonNullable<Parameters<typeof startBounded>[0]>['limits'];

async function start(limits: HarnessLimits = {}): Promise<Harness> {
  const slow: ServerResponse[] = [];
  const busy: string[] = [];
  const bounded = await startBounded({
    limits,
    pages: (server) => {
      server.get('/large-page', (_request, reply) => void reply.send(large));
    },
    routes: (api) => {
      api.get('/slow', (_request, reply) => void slow.push(reply.raw));
      api.get('/busy', (request, reply) => {
        holdLoop(1);
        busy.push(String(request.headers['x-principal']));
        void reply.send();
      });
      api.get('/large', (_request, reply) => void reply.send(large));
      api.get('/large-chunks', (request, reply) => sendChunks(request, reply, largeChunks));
    },
  });
  atEnd(() => slow.forEach((response) => response.end()));
  return { ...bounded, slow, busy };
}

const bounds: string[] = [];
const callers = new Callers(undefined, 10);
const options: ConnectionOptions = {
  callers,
  callerOf: () => callers.for('client'),
  addressOf: () => callers.for('address'),
  isProbe: () => false,
  probeRate: new ProbeRate(defaultHttpLimits.maxProbesOfAddress),
  onRefusal: (bound) => void bounds.push(bound),
  limits: defaultHttpLimits,
};

/** Opens a connection, sends the text and reads nothing. */
async function sendUnread(port: number, text: string): Promise<Socket> {
  const socket = await send(port, text);
  socket.pause();
  atEnd(() => socket.destroy());
  return socket;
}

async function statusOf(port: number, path: string, key: string): Promise<number> {
  return (await respond(port, path, key)).status;
}

it('ends the request of a connection that is reset once, and never begins those behind it', async () => {
  const { server, port, slow } = await start();
  const socket = await sendUnread(port, requestText('/slow').repeat(5));
  await until(() => slow.length === 1);
  let closed = 0;
  slow[0]?.on('close', () => (closed += 1));
  socket.resetAndDestroy();
  await until(() => server.connections.underWay <= 0);
  await new Promise(setImmediate);
  expect([server.connections.underWay, closed, slow.length]).toEqual([0, 1, 1]);
});

it('has one request of a connection under way; 16 read ahead begin, and get their responses in order, as the one before ends', async () => {
  const { port, slow, server, begun } = await start();
  const socket = await send(port, requestText('/slow').repeat(17));
  await until(() => slow.length === 1);
  for (let tick = 0; tick < 100; tick += 1) await new Promise(setImmediate);
  expect([slow.length, server.connections.underWay]).toEqual([1, 1]);
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  for (let index = 0; index < 17; index += 1) {
    await until(() => slow.length === index + 1);
    slow[index]?.end(`<${index}>`);
  }
  await until(() => text.includes('<16>'));
  expect(text.match(/<\d+>/g)).toEqual(Array.from({ length: 17 }, (_, index) => `<${index}>`));
  await until(() => server.connections.underWay === 0);
  expect(begun).toHaveLength(17);
  // The connection is as good as new.
  socket.write(requestText('/things'));
  await until(() => text.includes('a thing'));
});

it('disconnects a client whose first request waits to begin for the 18th, not for the 17th', () => {
  callers.ticks.wait(callers.for('other'), () => undefined);
  const connection = new ClientConnection(
    new Socket().on('error', () => undefined),
    options,
  );
  const accept = (): void => connection.accept({} as ServerResponse, () => undefined);
  for (let index = 0; index < 17; index += 1) accept();
  expect(bounds).toEqual([]);
  accept();
  expect(bounds).toEqual(['connection_requests']);
});

it.each(['/slow', '/healthz', '/nothing'])(
  'disconnects a client that sends more than 16 requests of %s ahead at once, and begins none of them',
  async (path) => {
    const { port, server, refusals, begun } = await start();
    let made = 0;
    server.server.on('request', () => (made += 1));
    const socket = await sendUnread(port, requestText(path).repeat(1_000));
    await new Promise((resolve) => socket.resume().once('close', resolve));
    await until(() => server.connections.underWay === 0);
    expect(refusals).toEqual(['connection_requests']);
    expect(begun.length).toBeLessThanOrEqual(1);
    // What follows in the same read isn't even parsed.
    expect(made).toBe(18);
  },
);

it('disconnects it also when they come one by one', async () => {
  const { port, slow, refusals } = await start();
  const socket = await sendUnread(port, requestText('/slow'));
  await until(() => slow.length === 1);
  for (let sent = 0; sent < 30 && !socket.destroyed; sent += 1) {
    socket.write(requestText('/slow'));
    await new Promise(setImmediate);
  }
  await until(() => refusals.length === 1);
  expect(slow).toHaveLength(1);
});

it.each(largePaths)('begins nothing on a connection until the operating system has taken all of %s', async (path) => {
  const { port, server, begun } = await start();
  const socket = await sendUnread(port, requestText(path) + requestText('/slow'));
  await until(() => server.connections.underWay === 1);
  for (let tick = 0; tick < 1000; tick += 1) await new Promise(setImmediate);
  expect(begun).toEqual([path]);
  socket.resume();
  await until(() => begun.length === 2);
});

it.each(largePaths)(
  'refuses a key with too much of %s unread by 503 before anything is done, and serves others',
  async (path) => {
    const { port, refusals } = await start({ maxMemoryOfClient: 4 * mebibyte, memoryWaitMillis: 10 });
    for (let connections = 1; connections <= 3; connections += 1) await sendUnread(port, requestText(path, 'greedy'));
    await until(async () => (await statusOf(port, '/things', 'greedy')) === 503);
    const refused = await respond(port, '/things', 'greedy');
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(refusals).toContain('memory');
    expect(await statusOf(port, '/things', 'modest')).toBe(200);
    // Pages are shared by all.
    expect(await statusOf(port, '/large-page', 'greedy')).toBe(200);
  },
);

it('closes the connections that hold most when more is held than there is', async () => {
  const { port, server, slow, refusals } = await start({ maxMemoryOfAll: 6 * mebibyte, checkEveryMillis: 20 });
  for (let connections = 1; connections <= 3; connections += 1) await sendUnread(port, requestText('/slow'));
  await until(() => slow.length === 3);
  for (const response of slow) response.end(large);
  // What the operating system holds of the others isn't ours to count.
  await until(() => server.connections.underWay <= 1);
  expect(refusals).toContain('unread_responses');
});

it.each(largePaths)('resets the connection of a client that reads nothing of %s', async (path) => {
  const { port, server, refusals } = await start({ stallMillis: 300, checkEveryMillis: 20 });
  const socket = await sendUnread(port, requestText(path));
  const failed = once(socket, 'error');
  await until(() => server.connections.underWay === 1);
  await until(() => server.connections.underWay === 0);
  socket.resume();
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
  expect(refusals).toContain('unread_responses');
});

it('takes for progress what the operating system has taken, within one large write', async () => {
  const server = createServer();
  const port = await listen(server);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = await sendUnread(port, '');
  const [socket] = await accepted;
  atEnd(() => socket.destroy());
  const connection = new ClientConnection(socket, options);
  expect(connection.stalledMillis(1_000)).toBe(0);
  socket.write(Buffer.alloc(64 * mebibyte));
  expect(connection.stalledMillis(2_000)).toBe(0);
  expect(connection.stalledMillis(3_000)).toBe(1_000);
  client.resume();
  await until(() => connection.stalledMillis(4_000) === 0);
});

it('closes connections beyond the maximum at once', async () => {
  const { port, refusals } = await start({ maxConnections: 2 });
  const kept = [await send(port, requestText('/things')), await send(port, requestText('/things'))];
  for (const socket of kept) await once(socket, 'data');
  expect(await receive(await send(port, requestText('/things')))).toBe('');
  expect(refusals).toEqual(['connections']);
  for (const socket of kept) socket.destroy();
});

it('starts the only request of a client before what another one has sent, on however many connections', async () => {
  const { port, busy } = await start({ tickMillis: 10 });
  const sockets: Socket[] = [];
  while (sockets.length <= 60) {
    const socket = await send(port, requestText('/busy'));
    await once(socket, 'data');
    sockets.push(socket);
  }
  busy.length = 0;
  const neighbour = sockets.pop();
  for (const socket of sockets) socket.write(requestText('/busy').repeat(2));
  neighbour?.write(requestText('/busy', 'neighbour'));
  await until(() => busy.length === 60 * 2 + 1);
  // What is begun as it is read, and in the tick in which it comes.
  expect(busy.indexOf('neighbour')).toBeLessThanOrEqual(2 * 10 + 5);
});

it('begins 20 probes a second of an address before what waits, and further ones in turn with it', async () => {
  const { port, busy, begun } = await start({ tickMillis: 1, maxProbesOfAddress: 20 });
  const sockets: Socket[] = [];
  while (sockets.length < 80) {
    const socket = await send(port, requestText('/things'));
    await once(socket, 'data');
    sockets.push(socket);
  }
  begun.length = 0;
  for (const socket of sockets.slice(0, 40)) socket.write(requestText('/busy'));
  for (const socket of sockets.slice(40)) socket.write(requestText('/healthz'));
  await until(() => busy.length === 40 && begun.length === 80);
  const order = begun.map((path) => (path === '/healthz' ? 'p' : 'b')).join('');
  const first = (count: number): number => Array.from(order.matchAll(/p/g))[count - 1]!.index;
  // All are of one client, and the probes were written last.
  expect(order.slice(order.indexOf('p'), first(20)).match(/b/g)?.length ?? 0).toBeLessThan(40 / 2);
  expect(order.slice(first(20))).toMatch(/b/);
  expect(order.endsWith('p'.repeat(20))).toBe(true);
});
