import { once } from 'node:events';
import type { Socket } from 'node:net';

import { expect, it } from '@jest/globals';

import { atEnd } from '../../support/at-end.ts';
import { startBounded } from './bounded-server.ts';
import { parseResponse, receive, send, type RawResponse } from './raw-requests.ts';

const headOf = (key: string, bytes: number): string =>
  `POST /things HTTP/1.1\r\nHost: x\r\nX-Principal: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;

/** Sends a request whose body lacks its last byte. */
async function sendMost(port: number, key: string, bytes = 4): Promise<Socket> {
  const socket = await send(port, `${headOf(key, bytes)}"${'x'.repeat(bytes - 2)}`);
  atEnd(() => socket.destroy());
  return socket;
}

/** The next response on a connection that stays open. */
async function nextResponse(socket: Socket): Promise<RawResponse> {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return parseResponse(String(chunk));
}

it('keeps so many slow bodies of a key, and refuses the next one by 429 once it is slow, too', async () => {
  const { port, refusals } = await startBounded({ limits: { maxIncompleteOfClient: 2, incompleteAfterMillis: 300 } });
  const slow = [await sendMost(port, 'slow'), await sendMost(port, 'slow')];
  await new Promise((resolve) => setTimeout(resolve, 450));
  const refused = await sendMost(port, 'slow');
  // Others, and requests that arrive whole, don't feel it.
  const other = await sendMost(port, 'other');
  const whole = await send(port, `${headOf('slow', 4)}"ab"`);
  expect((await nextResponse(whole)).status).toBe(201);
  whole.destroy();
  const response = await nextResponse(refused);
  expect([response.status, response.headers['retry-after']]).toEqual([429, '1']);
  expect(JSON.parse(response.body)).toMatchObject({
    code: 'RATE_LIMITED',
    message: expect.stringMatching('2 requests'),
  });
  expect(refusals).toEqual(['incomplete_bodies']);
  for (const socket of [...slow, other]) {
    socket.write('"');
    expect((await nextResponse(socket)).status).toBe(201);
  }
  // What was refused is read to its end and dropped: the connection serves the next request.
  refused.write(`"${headOf('slow', 4)}"ab"`);
  expect((await nextResponse(refused)).status).toBe(201);
});

it.each([
  ['503 what would need more memory than there is', 503, 'maxMemoryOfAll', ''],
  ['429 what would need more than its client may have', 429, 'maxMemoryOfClient', 'k'],
] as const)('refuses by %s, from the first byte on', async (_what, status, limit, key) => {
  const half = 512 * 1024;
  const { port, refusals } = await startBounded({ limits: { [limit]: 3 * half } });
  const sockets: Socket[] = [];
  for (let count = 0; count < 5; count += 1) sockets.push(await sendMost(port, key || `k${count}`, half));
  const first = await Promise.race(sockets.map(async (socket) => nextResponse(socket)));
  expect([first.status, first.headers['retry-after']]).toEqual([status, '1']);
  expect(refusals).toContain('incomplete_bodies');
});

it('forgets bodies whose connections are gone', async () => {
  const { port } = await startBounded({ limits: { maxIncompleteOfClient: 1, incompleteAfterMillis: 1 } });
  for (let round = 0; round < 3; round += 1) {
    const gone = await sendMost(port, 'k');
    await new Promise((resolve) => setTimeout(resolve, 250));
    gone.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const socket = await sendMost(port, 'k');
  await new Promise((resolve) => setTimeout(resolve, 250));
  socket.write('"');
  expect((await nextResponse(socket)).status).toBe(201);
  expect(await receive(await send(port, 'GET /things HTTP/1.0\r\n\r\n'))).toMatch(/ 200 /);
});
