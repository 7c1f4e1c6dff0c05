import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { Connection } from '../../src/http/connection.ts';
import type { ServerOptions } from '../../src/http/server.ts';
import { StartTurns } from '../../src/http/start-turns.ts';
import { until } from '../support/until.ts';
import { atEnd } from '../support/at-end.ts';
import { portOf, receive, requestText, respond, send, startHttp, type HttpHarness } from './http-harness.ts';

const mebibyte = 1024 * 1024;
const large = Buffer.alloc(8 * mebibyte, 'x');

interface Harness extends HttpHarness {
  readonly port: number;
  readonly refusals: string[];
  /** The responses of the requests for `/slow` that have begun. */
  readonly begun: ServerResponse[];
  /** The keys of the requests for `/busy`, each of which holds the event loop, in the order in which they begin. */
  readonly busy: string[];
}

async function start(options: Partial<ServerOptions> = {}): Promise<Harness> {
  const refusals: string[] = [];
  const begun: ServerResponse[] = [];
  const busy: string[] = [];
  const http = await startHttp({
    ...options,
    onRefusal: (bound) => void refusals.push(bound),
    routes: async (api) => {
      api.get('/slow', (_request, reply) => void begun.push(reply.raw));
      api.get('/busy', (request, reply) => {
        const endsAt = performance.now() + 1;
        while (performance.now() < endsAt);
        busy.push(String(request.headers['x-principal']));
        void reply.send();
      });
      api.get('/large', (_request, reply) => void reply.send(large));
    },
  });
  atEnd(() => http.server.close());
  atEnd(() => begun.forEach((response) => response.end()));
  return { ...http, port: await portOf(http.server), refusals, begun, busy };
}

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

describe('Node, as this server relies on it,', () => {
  it('ends each request of a connection that is reset once, also those behind another', async () => {
    const { server, port, begun } = await start();
    const socket = await sendUnread(port, requestText('/slow').repeat(5));
    await until(() => begun.length === 5);
    const closed: number[] = [];
    for (const [index, response] of begun.entries()) response.on('close', () => closed.push(index));
    socket.resetAndDestroy();
    await until(() => server.connections.underWay <= 0);
    await new Promise(setImmediate);
    expect([server.connections.underWay, closed]).toEqual([0, [0, 1, 2, 3, 4]]);
  });

  it('remembers the address of a connection that has been asked for before the reset', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      expect(socket.remoteAddress).toBe('127.0.0.1');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.close());
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = (await once(server, 'connection')) as [Socket];
    client.resetAndDestroy();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(socket.remoteAddress).toBe('127.0.0.1');
  });
});

it('has 32 requests of a connection under way; the others start, and get their responses in order, as these end', async () => {
  const { port, begun, server, refusals, log } = await start();
  const socket = await send(port, requestText('/slow').repeat(100));
  await until(() => begun.length === 32);
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  expect([begun.length, server.connections.underWay]).toEqual([32, 32]);
  expect(refusals).toEqual(['connection_requests']);
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  for (let index = 0; index < 100; index += 1) {
    await until(() => begun.length > index);
    begun[index]?.end(`<${index}>`);
  }
  await until(() => text.includes('<99>'));
  expect(text.match(/<\d+>/g)).toEqual(Array.from({ length: 100 }, (_, index) => `<${index}>`));
  await until(() => server.connections.underWay === 0);
  expect(log.filter(({ path }) => path === '/slow')).toHaveLength(100);
  // The connection is as good as new.
  socket.write(requestText('/things'));
  await until(() => text.includes('a thing'));
});

it('reads one piece of 64 KiB and no more of a client that goes on asking', async () => {
  const { port, begun, server } = await start();
  const sockets: Socket[] = [];
  server.server.on('connection', (socket) => sockets.push(socket));
  await sendUnread(port, requestText('/slow').repeat(100_000));
  await until(() => begun.length === 32);
  for (let index = 0; index < 20; index += 1) begun[index]?.end('x');
  await until(() => begun.length === 52);
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  expect(sockets[0]?.bytesRead).toBeLessThanOrEqual(2 * 64 * 1024);
});

it('begins nothing on a connection while more than 1 MiB of a response waits to be read', async () => {
  const { port, begun, server } = await start();
  const socket = await sendUnread(port, requestText('/large').repeat(2));
  await until(() => server.connections.underWay === 2);
  socket.write(requestText('/slow'));
  for (let turn = 0; turn < 1000; turn += 1) await new Promise(setImmediate);
  expect(begun).toHaveLength(0);
  socket.resume();
  await until(() => begun.length === 1);
});

it('refuses a key with too many unread responses by 503 before anything is done, and serves others', async () => {
  const { port, refusals } = await start({ limits: { maxUnreadBytesOfKey: 4 * mebibyte } });
  for (let connections = 1; connections <= 3; connections += 1)
    await sendUnread(port, requestText('/large', 'greedy').repeat(4));
  // The sum over all connections may be a moment old.
  await until(async () => (await statusOf(port, '/things', 'greedy')) === 503);
  const refused = await respond(port, '/things', 'greedy');
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'unavailable', status: 503 });
  expect(refusals).toContain('unread_responses');
  expect(await statusOf(port, '/things', 'modest')).toBe(200);
});

it('refuses all but the pages when too much is unread altogether', async () => {
  const limits = { maxUnreadBytesOfAll: 12 * mebibyte };
  const { port } = await start({ limits });
  for (let connections = 1; connections <= 3; connections += 1) {
    await sendUnread(port, requestText('/large', `k${connections}`).repeat(4));
  }
  await until(async () => (await statusOf(port, '/things', 'modest')) === 503);
  expect(await statusOf(port, '/robots.txt', 'modest')).toBe(200);
});

it('closes the connections that hold most when requests under way have added twice as much', async () => {
  const { port, server, refusals } = await start({
    limits: { maxUnreadBytesOfAll: 4 * mebibyte, checkEveryMillis: 20 },
  });
  await sendUnread(port, requestText('/large').repeat(8));
  await until(() => server.connections.underWay === 8);
  await until(() => server.connections.underWay === 0);
  expect(refusals).toContain('unread_responses');
});

it('closes the connection of a client that reads nothing of a response, whatever it is', async () => {
  const { port, server, refusals } = await start({ limits: { stallMillis: 300, checkEveryMillis: 20 } });
  await sendUnread(port, requestText('/large').repeat(4));
  await until(() => server.connections.underWay === 4);
  await until(() => server.connections.underWay === 0);
  expect(refusals).toContain('unread_responses');
});

it('takes for progress what the operating system has taken, within one large write', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = await sendUnread((server.address() as AddressInfo).port, '');
  const [socket] = await accepted;
  atEnd(() => socket.destroy());
  const connection = new Connection(socket, { maxRequests: 1, maxUnreadBytes: 1 }, new StartTurns(10), () => undefined);
  expect(connection.stalledMillis(1_000)).toBe(0);
  socket.write(Buffer.alloc(64 * mebibyte));
  expect(connection.stalledMillis(2_000)).toBe(0);
  expect(connection.stalledMillis(3_000)).toBe(1_000);
  client.resume();
  await until(() => connection.stalledMillis(4_000) === 0);
});

it('closes connections beyond the maximum at once', async () => {
  const { port, refusals } = await start({ limits: { maxConnections: 2 } });
  const kept = [await send(port, requestText('/things')), await send(port, requestText('/things'))];
  for (const socket of kept) await once(socket, 'data');
  expect(await receive(await send(port, requestText('/things')))).toBe('');
  expect(refusals).toEqual(['connections']);
  for (const socket of kept) socket.destroy();
});

it('sends one response to a request that is refused before its body, however long that takes', async () => {
  const { port } = await start({ timeouts: { headersMillis: 100, requestMillis: 100, checkEveryMillis: 10 } });
  const head = 'POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n';
  const text = await receive(await send(port, head));
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
});

it('starts the only request of a connection after at most one of each other connection, however many these have sent', async () => {
  const { port, busy } = await start({ limits: { turnMillis: 10 } });
  const sockets: Socket[] = [];
  while (sockets.length <= 10) {
    const socket = await send(port, requestText('/busy'));
    await once(socket, 'data');
    sockets.push(socket);
  }
  busy.length = 0;
  const neighbour = sockets.pop();
  for (const socket of sockets) socket.write(requestText('/busy').repeat(32));
  neighbour?.write(requestText('/busy', 'neighbour'));
  await until(() => busy.length === 10 * 32 + 1);
  // One read of a connection, which is begun whole, and one request of each.
  expect(busy.indexOf('neighbour')).toBeLessThanOrEqual(32 + 10);
});
