import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import type { CompletedRequest } from '../../src/http/observe/metrics.ts';
import { quotaHeaders } from '../security/quota-headers.ts';
import { until } from '../support/until.ts';
import { anyKey, authenticationBy, holderOf, startHttp } from './http-harness.ts';
import { responseTo, parseResponse, portOf, receive, send } from '../platform/http/raw-requests.ts';

const key = 'X-API-Key: any\r\n';
const origin = 'https://shop.example';
const noPage = `Host: x\r\n${key}`;
const host = `${noPage}Origin: ${origin}\r\n`;

const responses: CompletedRequest[] = [];

const http = await startHttp({
  authentication: authenticationBy({ find: holderOf }),
  corsOrigins: [origin],
  limits: { headersTimeoutMillis: 200, requestTimeoutMillis: 200, timeoutCheckMillis: 20 },
  onResponse: (one) => void responses.push(one),
  routes: async (api) => {
    api.get('/slow', anyKey, (_request, reply) => {
      reply.raw.once('close', () => http.server.server.emit('slow-closed'));
      http.server.server.emit('slow');
    });
    api.get('/half', anyKey, (_request, reply) => {
      void reply.hijack();
      reply.raw.writeHead(200, { 'content-length': 100 });
      reply.raw.write('half of it');
    });
  },
});
const port = await portOf(http.server);

interface Broken {
  readonly text: string;
  readonly status: keyof typeof codes;
  /** What the log says of it. */
  readonly method?: string;
  readonly route?: string;
  readonly path?: string;
}

const codes = {
  400: 'bad_request',
  405: 'method_not_allowed',
  408: 'request_timeout',
  414: 'uri_too_long',
  417: 'expectation_failed',
  431: 'headers_too_large',
};

const get = 'GET /things HTTP/1.1\r\n';
const post = 'POST /things HTTP/1.1\r\n';
const things = { method: 'GET', route: '/things', path: '/things' };
const posted = { ...things, method: 'POST' };
const thing = { method: 'PATCH', route: '/things/:id' };
const json = 'Content-Type: application/json\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n\r\n';
const long = { method: 'GET', path: `/${'a'.repeat(199)}` };

const brokenRequests: Readonly<Record<string, Broken>> = {
  garbage: { text: 'garbage\r\n\r\n', status: 400 },
  'an unknown method': { text: `BREW /a HTTP/1.1\r\n${host}\r\n`, status: 400, method: 'BREW', path: '/a' },
  'a broken header': { text: `GET /things?q HTTP/1.1\r\n${host}no colon\r\n\r\n`, status: 400, ...things },
  'a broken header on a path with parameters': {
    text: `PATCH http://x/things/7 HTTP/1.1\r\n${host}no colon\r\n\r\n`,
    status: 400,
    ...thing,
    path: '/things/7',
  },
  'a broken header on an unknown path': {
    text: `GET /nothing HTTP/1.1\r\n${host}no colon\r\n\r\n`,
    status: 400,
    method: 'GET',
    path: '/nothing',
  },
  'no Host': { text: `${get}${key}\r\n`, status: 400, ...things },
  'two Hosts': { text: `${get}${host}Host: y\r\n\r\n`, status: 400, ...things },
  'a Host that is no name': { text: `${get}${key}Host: a b\r\n\r\n`, status: 400, ...things },
  'a Host with markup': { text: `${get}${key}Host: "><script>\r\n\r\n`, status: 400, ...things },
  'a Host with a port that is none': { text: `${get}${key}Host: [::1]:http\r\n\r\n`, status: 400, ...things },
  'a broken body': { text: `${post}${host}${json}${chunked}zz\r\n`, status: 400, ...posted },
  'a broken body for a path that is refused as well': {
    text: `POST /things/%zz HTTP/1.1\r\n${host}${chunked}zz\r\n`,
    status: 400,
    method: 'POST',
    path: '/things/%zz',
  },
  'a path that cannot be decoded': {
    text: `PATCH /things/%ff HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
    status: 400,
    ...thing,
    path: '/things/%ff',
  },
  'a transfer coding that is not understood': {
    text: `${post}${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    status: 400,
    ...posted,
  },
  'a body in chunks of HTTP/1.0, which has none': {
    text: `POST /things HTTP/1.0\r\n${host}Connection: keep-alive\r\n${chunked}0\r\n\r\n`,
    status: 400,
    ...posted,
  },
  CONNECT: { text: `CONNECT example.org:443 HTTP/1.1\r\n${noPage}\r\n`, status: 405, method: 'CONNECT' },
  'headers that never end': { text: `${get}${noPage}`, status: 408 },
  'a body that never ends': { text: `${post}${host}${json}Content-Length: 9\r\n\r\n{`, status: 408, ...posted },
  'a target over 8 KiB': { text: `GET /${'a'.repeat(8_192)} HTTP/1.1\r\n${host}\r\n`, status: 414, ...long },
  'a target over any limit': { text: `GET /${'a'.repeat(200_000)} HTTP/1.1\r\n${noPage}\r\n`, status: 414, ...long },
  'an unknown expectation': { text: `${get}${host}Expect: miracles\r\n\r\n`, status: 417, ...things },
  'headers over 16 KiB': { text: `${get}${host}A: ${'a'.repeat(16_400)}\r\n\r\n`, status: 431, ...things },
  'headers over any limit': { text: `${get}${host}A: ${'a'.repeat(900_000)}\r\n\r\n`, status: 431, ...things },
};

describe('what HTTP itself refuses', () => {
  it.each(Object.entries(brokenRequests))(
    'is the Error object with a request id and the figures of the address, which a page may read, is counted, and has a line in the log: %s',
    async (_what, { text, status, method, route, path }) => {
      const code = codes[status];
      responses.length = 0;
      const response = await responseTo(port, text);
      expect(JSON.parse(response.body)).toEqual({ status, code, message: expect.any(String) });
      expect(response.status).toBe(status);
      expect(response.headers).toMatchObject({
        ...quotaHeaders,
        // Of the address, though a key is sent: so that keys can't be guessed for nothing.
        'x-ratelimit-limit': '60',
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(Buffer.byteLength(response.body)),
        'cache-control': 'no-store',
        vary: 'Authorization, X-API-Key, Accept, Origin',
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        connection: 'close',
        ...(text.includes(origin) && { 'access-control-allow-origin': origin }),
      });
      await until(() => responses.length > 0);
      const operation = route === undefined ? 'none' : `${method} ${route}`;
      expect(responses).toEqual([{ operation, status, seconds: expect.any(Number) }]);
      const lines = http.log.filter(({ requestId }) => requestId === response.headers['x-request-id']);
      expect(lines).toMatchObject([{ level: 30, status, code, ms: expect.any(Number), msg: 'response sent' }]);
      expect(lines.map((line) => [line['method'], line['route'], line['path']])).toEqual([[method, route, path]]);
    },
  );

  it.each([
    ['a broken header', 'GET /things HTTP/1.1', 'no colon\r\n', 400],
    ['no Host', 'GET /things HTTP/1.1', '', 400],
    ['a target over 8 KiB', `GET /${'a'.repeat(8192)} HTTP/1.1`, host, 414],
    ['an undecodable path', 'GET /things/%zz HTTP/1.1', `${host}Connection: close\r\n`, 400],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1', host, 405],
  ])('a problem of RFC 9457 for a client that asks for it, %s', async (_what, line, headers, status) => {
    const response = await responseTo(port, `${line}\r\nAccept: application/problem+json\r\n${headers}\r\n`);
    expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    const { code, message, ...problem } = JSON.parse(response.body);
    expect(problem).toEqual({ type: `/docs#${code}`, title: expect.any(String), status, detail: message });
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.body)));
  });

  it('and a GraphQL response on /graphql', async () => {
    for (const text of [`BREW /graphql HTTP/1.1\r\n${host}\r\n`, 'POST /graphql HTTP/1.1\r\n\r\n']) {
      const { body } = await responseTo(port, text);
      expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST', status: 400 } }] });
    }
  });
});

it('takes a target of 8 KiB, headers of almost 16 KiB, and HTTP/1.0 without Host', async () => {
  const statusOf = async (text: string) => (await responseTo(port, text)).status;
  expect(await statusOf(`GET /things?${'a'.repeat(8184)} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)).toBe(200);
  expect(await statusOf(`${get}${host}Connection: close\r\nA: ${'a'.repeat(16_300)}\r\n\r\n`)).toBe(200);
  expect(await statusOf(`GET /things HTTP/1.0\r\n${key}\r\n`)).toBe(200);
});

it('responds to OPTIONS * with the methods of the server', async () => {
  const response = await responseTo(port, `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
  expect(response).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS, PATCH, POST' } });
});

it.each(['', 'shop.example', 'shop.example:', 'a_b:80', '[::1]:4000', '192.0.2.1:80', 'xn--bcher-kva.example'])(
  'takes the Host "%s"',
  async (name) => {
    const { status } = await responseTo(
      port,
      `GET /things HTTP/1.1\r\nHost: ${name}\r\n${key}Connection: close\r\n\r\n`,
    );
    expect(status).toBe(200);
  },
);

it('takes a target with scheme and host', async () => {
  const response = await responseTo(port, `GET http://x/things HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
  expect(response.body).toBe('["a thing"]');
});

it('never writes into a response under way: the connection is destroyed', async () => {
  const socket = await send(port, `GET /half HTTP/1.1\r\n${host}\r\n`);
  socket.once('data', () => socket.write('garbage\r\n\r\n'));
  expect(await receive(socket)).toMatch(/\r\n\r\nhalf of it$/);
});

it('never sends the response to garbage instead of that to the request before it', async () => {
  const begun = once(http.server.server, 'slow');
  const socket = await send(port, `GET /slow HTTP/1.1\r\n${host}\r\n`);
  await begun;
  socket.write('garbage\r\n\r\n');
  expect(await receive(socket)).toBe('');
});

it('lets a client that sends a body of many times the limit see why it is refused', async () => {
  // Sending so much may take longer than the other clients here are given.
  const { server } = await startHttp();
  const url = `http://127.0.0.1:${await portOf(server)}/things`;
  const body = Buffer.alloc(16 * 1024 * 1024, ' ');
  for (let time = 0; time < 5; time++) {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(await response.json()).toMatchObject({ status: 413, code: 'payload_too_large' });
  }
});

it('sends one response to a request that is refused before its body, however long that takes', async () => {
  const text = await receive(await send(port, `POST /nothing HTTP/1.1\r\n${host}Content-Length: 10\r\n\r\n`));
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
});

it('serves the next request on a connection whose body was refused', async () => {
  const refused = `POST /things HTTP/1.1\r\n${host}Content-Type: text/plain\r\nContent-Length: 1\r\n\r\n{`;
  const text = await receive(await send(port, `${refused}${get}${host}Connection: close\r\n\r\n`));
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 415', 'HTTP/1.1 200']);
});

it('goes on after a client that leaves without a word', async () => {
  const gone = once(http.server.server, 'slow-closed');
  const begun = once(http.server.server, 'slow');
  const socket = await send(port, `GET /slow HTTP/1.1\r\n${host}\r\n`);
  await begun;
  socket.resetAndDestroy();
  await gone;
  expect(parseResponse(await receive(await send(port, `GET /things HTTP/1.0\r\n${key}\r\n`))).status).toBe(200);
});

it('responds to HEAD without content, broken or not', async () => {
  const text = await receive(await send(port, `HEAD /things HTTP/1.1\r\n${host}no colon\r\n\r\n`));
  expect(parseResponse(text)).toMatchObject({ status: 400, body: '' });
});
