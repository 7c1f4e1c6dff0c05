import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { receive, send } from '../platform/http/raw-requests.ts';
import { adminKey, Service } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';

const { url } = await startCluster();
const service = await Service.start({ DATABASE_URL: url });

/** Whatever the client has sent, the server may have read it or not when the reset arrives. */
async function sendAndReset(text: string, before: (socket: Socket) => Promise<unknown>): Promise<void> {
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write(text, resolve));
  await before(socket);
  socket.resetAndDestroy();
}

/** The lines of the log since, after the line of a request that was sent last. */
async function linesSince(length: number): Promise<string[]> {
  const mark = `mark-${length}`;
  await fetch(`${service.address}/pets`, { headers: { 'x-request-id': mark, 'x-api-key': adminKey } });
  await service.line(new RegExp(mark));
  return service.output
    .slice(length)
    .split('\n')
    .filter((line) => line.startsWith('{') && !line.includes(mark));
}

const json = 'Content-Type: application/json\r\n';
const query = '{"query":"{ pets { totalCount } }"}';
const requests: [string, string][] = [
  ['CONNECT x:1', ''],
  ['GET /%zz', ''],
  ['GET /pets', ''],
  ['GET /store/orders', ''],
  ['POST /graphql', json],
  ['POST /graphql', `${json}Content-Length: ${query.length}\r\n\r\n${query}`],
  ['POST /pets', `${json}Content-Length: 10\r\n\r\n{`],
  ['POST /pets', `${json}Transfer-Encoding: chunked\r\n\r\nzz`],
  ['GET /graphql', 'Connection: upgrade\r\nUpgrade: websocket\r\n'],
  ['GET /graphiql', ''],
  ['GET /openapi.json', ''],
  ['OPTIONS /pets', ''],
  ['garbage', ''],
];

// Before the resets have spent what the address has without a key.
it('an upgrade to WebSocket is refused by an error that names subscriptions', async () => {
  for (const sent of ['', `X-API-Key: ${adminKey}\r\n`]) {
    const request = `GET /graphql HTTP/1.1\r\nHost: x\r\n${sent}Connection: upgrade\r\nUpgrade: websocket\r\n`;
    const socket = await send(service.port, `${request}Sec-WebSocket-Version: 13\r\n\r\n`);
    const text = String(await once(socket, 'data'));
    socket.destroy();
    expect(text).toMatch(sent === '' ? / 401 / : / 400 /);
    expect(text).toMatch(/subscriptions/i);
  }
});

it('an event stream whose opening is reset is begun and ended in the log, or neither', async () => {
  const { length } = service.output;
  const body = '{"query":"subscription { events { id } }"}';
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nX-API-Key: ${adminKey}\r\nAccept: text/event-stream\r\n`;
  const request = `${head}${json}Content-Length: ${body.length}\r\n\r\n${body}`;
  for (let millis = 0; millis < 40; millis += 1)
    await sendAndReset(request, () => new Promise((resolve) => setTimeout(resolve, millis % 8)));
  const lines = (await linesSince(length)).map((line) => JSON.parse(line) as { requestId?: string; msg: string });
  const messages = Map.groupBy(lines, ({ requestId }) => requestId);
  messages.delete(undefined);
  for (const [first, last] of messages.values()) {
    if (first!.msg === 'event stream begun') expect(last?.msg).toBe('event stream ended');
    else expect(last).toBeUndefined();
  }
});

/** The response to the headers is still being made when the parser refuses the body as well. OPTIONS may be first. */
it.each(['OPTIONS /nope', 'POST /nope', 'OPTIONS /pets', 'POST /pets/%zz', 'POST /graphql', 'PUT /graphql'])(
  'outlives a body that is broken behind %s',
  async (start) => {
    for (const sent of ['', 'X-API-Key: zzz\r\n', `X-API-Key: ${adminKey}\r\n`]) {
      const head = `${start} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${sent}Transfer-Encoding: chunked\r\n\r\n`;
      const responses = await Promise.all(
        Array.from({ length: 8 }, async () => receive(await send(service.port, `${head}ZZ\r\n`))),
      );
      const expected = start === 'OPTIONS /pets' ? /^HTTP\/1\.1 (?:204|400) / : /^HTTP\/1\.1 4\d\d /;
      for (const response of responses) expect(response).toMatch(expected);
    }
    expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
  },
);

describe.each([
  ['at once', async () => undefined],
  ['a moment later', () => new Promise((resolve) => setTimeout(resolve, 3))],
  [
    'when the response has begun',
    (socket: Socket) =>
      Promise.race([
        once(socket, 'readable'),
        once(socket, 'close'),
        new Promise((resolve) => setTimeout(resolve, 200)),
      ]),
  ],
])('a connection that is reset %s', (_when, before) => {
  it.each(requests)(
    'after %s %j leaves at most one line of its request in the log, below warn',
    async (start, rest) => {
      const { length } = service.output;
      for (const sent of ['', `X-API-Key: ${adminKey}\r\n`]) {
        const end = rest.includes('\r\n\r\n') ? rest : `${rest}\r\n`;
        const request = `${start} HTTP/1.1\r\nHost: x\r\n${sent}${end}`;
        await Promise.all(Array.from({ length: 8 }, async () => sendAndReset(request, before)));
      }
      expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
      const lines = await linesSince(length);
      // Levels of pino: 40 is a warning.
      expect(lines.filter((line) => /"level":(?:40|50|60)/.test(line))).toEqual([]);
      const ids = lines.map((line) => (JSON.parse(line) as { requestId?: string }).requestId);
      expect(ids.filter((id, index) => id !== undefined && ids.indexOf(id) !== index)).toEqual([]);
      // It isn't a bad request. Lines of the test before may come late: they are of another path.
      const gone = lines.filter((line) => line.includes('client disconnected') && line.includes('GET","path":"/pets"'));
      expect(gone.filter((line) => line.includes('"status":400'))).toEqual([]);
    },
  );
});
