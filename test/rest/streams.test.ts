import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';

import { afterEach, expect, it } from '@jest/globals';

import { until } from '../support/until.ts';
import { startTestApp } from '../support/test-app.ts';

/** With descriptions as long as there are, more than the buffers between two programs hold. */
const total = 15_000;
/** A megabyte of them. */
const rowsAtOnce = 500;
const perKey = 3;

const sockets: Socket[] = [];
/** The other ends of all connections so far. */
const serverSockets: Socket[] = [];

const rest = await startTestApp(
  {},
  { collectionLimits: { perKey, perProcess: 5 }, httpLimits: { stallMillis: 1_000, checkEveryMillis: 50 } },
);
// Without the events of each row.
await rest.sql(`begin; set local session_replication_role = replica;
  insert into categories (id, name, description) select n, n, repeat('x', 2000) from generate_series(1, ${total}) n;
  commit`);
rest.app.server.server.on('connection', (socket) => serverSockets.push(socket));
await rest.app.server.listen({ port: 0, host: '127.0.0.1' });
const port = (rest.app.server.server.address() as AddressInfo).port;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await until(areAllSlotsFree);
});

/** Requests the whole collection and reads nothing of it, besides what the operating system buffers. */
async function stalledReader(requests = 1): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(`GET /categories HTTP/1.1\r\nHost: store\r\nX-API-Key: ${rest.key}\r\n\r\n`.repeat(requests));
  await once(socket, 'readable');
  expect(String(socket.read(15))).toBe('HTTP/1.1 200 OK');
  socket.pause();
  return socket;
}

/** What the client gets when it reads on, until the connection is closed. */
async function readBy(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.resume();
  // A reset is an error, too.
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks).toString();
}

const categories = (init: RequestInit = {}, query = ''): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/categories${query}`, { ...init, headers: { 'x-api-key': rest.key } });

/** Takes all slots for a moment. */
async function areAllSlotsFree(): Promise<boolean> {
  const responses = await Promise.all(Array.from({ length: perKey }, () => categories()));
  await Promise.all(responses.map(async ({ body }) => body?.cancel()));
  return responses.every(({ status }) => status === 200);
}

it('returns every row once, however many there are', async () => {
  const rows = (await (await categories()).json()) as { id: number }[];
  expect(rows).toHaveLength(total);
  expect(rows.every(({ id }, index) => id === index + 1)).toBe(true);
});

it('reads no further than the client, and holds no connection meanwhile', async () => {
  const walked = (): number => rest.statements.filter((sql) => sql.includes('from categories')).length;
  rest.forgetStatements();
  const socket = await stalledReader();
  await until(async () => {
    const before = walked();
    // The only connection of the embedded database would be missing here.
    for (let asked = 0; asked < 20; asked += 1) expect((await rest.ask('GET', '/pets')).status).toBe(200);
    return walked() === before;
  });
  expect(walked()).toBeLessThan(0.8 * (total / rowsAtOnce));
  expect(socket.destroyed).toBe(false);
});

it('destroys the connection of a client that reads nothing for too long, and releases its slot', async () => {
  const earlier = serverSockets.length;
  const readers = await Promise.all(Array.from({ length: perKey }, () => stalledReader()));
  expect((await categories()).status).toBe(429);
  await until(() => serverSockets.slice(earlier, earlier + perKey).every(({ destroyed }) => destroyed));
  expect(await areAllSlotsFree()).toBe(true);
  for (const socket of readers) {
    const text = await readBy(socket);
    // Aborted, not ended: neither the array nor the chunks have an end.
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
  }
});

it('has few slots for a key, and refuses beyond them by 429 with Retry-After', async () => {
  await Promise.all(Array.from({ length: perKey }, () => stalledReader()));
  const refused = await categories();
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(refused.headers.get('cache-control')).toBe('no-store');
  expect(await refused.json()).toMatchObject({ code: 'rate_limited', status: 429 });
  // What isn't a whole collection needs none.
  expect((await categories({}, '?limit=1')).status).toBe(200);
  expect((await categories({ method: 'HEAD' })).status).toBe(200);
});

it('releases the slots when the client disconnects, also where further requests have been read ahead', async () => {
  const readers = await Promise.all(Array.from({ length: perKey }, () => stalledReader(3)));
  expect((await categories()).status).toBe(429);
  for (const socket of readers) socket.destroy();
  await until(areAllSlotsFree);
});

it('destroys the connection when the walk fails midway, and responds with 500 when it fails at once', async () => {
  const socket = await stalledReader();
  await rest.sql('alter table categories rename to categories_away');
  try {
    const text = await readBy(socket);
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
    const failed = await categories();
    expect([failed.status, await failed.json()]).toMatchObject([500, { code: 'internal_error', status: 500 }]);
  } finally {
    await rest.sql('alter table categories_away rename to categories');
  }
});

it('counts what a stream takes as memory of its client until its connection has closed', async () => {
  const { memory } = rest.app.server;
  const socket = await stalledReader();
  expect(memory.held).toBeGreaterThanOrEqual(1024 * 1024);
  expect(memory.held).toBeLessThan(1.1 * 1024 * 1024);
  socket.destroy();
  await until(() => memory.held === 0);
});
