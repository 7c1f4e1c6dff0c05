import { once } from 'node:events';

import { expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';
import { parseResponse, portOf, receive, send } from '../platform/http/raw-requests.ts';

const service = await startTestApp();
const port = await portOf(service.app.server);
const one = { plan: 'enterprise', requestsPerMinute: 1, requestsPerDay: 1 } as const;
const keys = {
  good: service.key,
  reading: (await service.createKey({ scopes: ['read'] })).secret,
  spent: (await service.createKey(one)).secret,
  unknown: 'none of ours',
};
await service.graphql('{ __typename }', {}, keys.spent);

const query = 'mutation { createCategory(input: { name: "Cats" }) { category { id } } }';
const body = JSON.stringify({ name: 'Dogs', query });
const lengths = { 'content-length': String(Buffer.byteLength(body)) };

function head(path: string, key: string, headers: Readonly<Record<string, string>>): string {
  const all = {
    host: 'x',
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    expect: '100-continue',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const framings = [lengths, { 'transfer-encoding': 'chunked' }] as const;
interface Refusal {
  readonly status: number;
  readonly paths?: readonly string[];
  readonly key?: keyof typeof keys;
  readonly headers?: Readonly<Record<string, string>>;
}

it.each<Refusal>([
  { status: 400, headers: { host: 'no host' } },
  { status: 401, key: 'unknown' },
  { status: 403, key: 'reading', paths: ['/categories'] },
  { status: 404, paths: ['/nothing'] },
  { status: 405, paths: ['/pets/7'] },
  { status: 406, headers: { accept: 'image/png' } },
  { status: 413, headers: { 'content-length': String(2 ** 20 + 1) } },
  { status: 415, headers: { 'content-type': 'text/plain' } },
  { status: 429, key: 'spent' },
])('a body that waits for 100 is not asked for when it is refused with $status', async (refusal) => {
  const { status, paths = ['/categories', '/graphql'], key = 'good', headers = {} } = refusal;
  for (const path of paths) {
    for (const framing of 'content-length' in headers ? [headers] : framings) {
      const received = await receive(await send(port, head(path, keys[key], { ...framing, ...headers })));
      expect([path, received.slice(0, 12)]).toEqual([path, `HTTP/1.1 ${status}`]);
      expect(parseResponse(received).headers['connection']).toBe('close');
    }
  }
});

it.each(['/categories', '/graphql'])('a body that waits for 100 is asked for once, and read: %s', async (path) => {
  for (const framing of framings) {
    const socket = await send(port, head(path, keys.good, { connection: 'close', ...framing }));
    const [interim] = (await once(socket, 'data')) as [Buffer];
    expect(interim.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('content-length' in framing ? body : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    expect(parseResponse(await receive(socket)).status).toBe(path === '/graphql' ? 200 : 201);
  }
});
