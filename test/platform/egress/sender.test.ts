import { createServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { expect, it } from '@jest/globals';

import { inBackground } from '../../../src/platform/background.ts';
import { Destinations, Sender, type SendResult } from '../../../src/platform/egress/index.ts';
import { Connections } from '../../../src/platform/egress/connections.ts';
import { atEnd } from '../../support/at-end.ts';
import { listen } from '../../support/listen.ts';
import { until } from '../../support/until.ts';
import { type Answer, startNameServer } from './name-server.ts';
import { received, type Received, startRawReceiver, startReceiver } from './receiver.ts';

/** Loopback is allowed, as tests need it, on whichever port they listen. */
function senderTo(ports: readonly number[], rules: { nameServers?: string[]; allow?: string[] } = {}): Sender {
  const destinations = new Destinations({ ports, allow: ['127.0.0.1/32'], ...rules });
  const sender = new Sender({ destinations, now: Date.now });
  atEnd(() => sender.close());
  return sender;
}

const message = { headers: { 'user-agent': 'test/1' }, body: '{"type":"webhook.test"}', isTrusted: true };

async function post(sender: Sender, url: string): Promise<SendResult> {
  const result = await sender.send({ url, ...message });
  if (result === 'busy') throw new Error('busy');
  return result;
}

it('the receiver gets the body, the headers that were given, and no other that says who sends it', async () => {
  const requests: Received[] = [];
  const port = await startReceiver((request, response) => {
    void received(request).then((each) => {
      requests.push(each);
      response.writeHead(204).end();
    });
  });
  expect(await post(senderTo([port]), `https://localhost:${port}/a?b=c`)).toMatchObject({
    status: 204,
    failure: undefined,
  });
  const [request] = requests;
  expect(Object.keys(request!.headers).toSorted()).toEqual([
    'accept-encoding',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
  ]);
  expect(request!.body).toBe(message.body);
});

it.each([200, 301, 304, 404, 410, 503])('%s is a status, and a redirect is not followed', async (status) => {
  let count = 0;
  const port = await startReceiver((_request, response) => {
    count += 1;
    response.writeHead(status, { location: `https://localhost:${port}/elsewhere`, 'retry-after': '7' }).end();
  });
  expect(await post(senderTo([port]), `https://localhost:${port}/`)).toMatchObject({
    status,
    failure: undefined,
    retryAfterMillis: 7000,
  });
  expect(count).toBe(1);
});

/** What a connection may do instead of a response, and what it is told as. */
const hostile: readonly [string, string, (socket: TLSSocket) => void][] = [
  ['headers of 1 MB', 'TOO_LARGE', (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1 << 20)}\r\n\r\n`)],
  ['100 Continue without end', 'TOO_LARGE', (socket) => repeat(socket, 'HTTP/1.1 100 Continue\r\n\r\n')],
  [
    '103 Early Hints without end',
    'TOO_LARGE',
    (socket) => repeat(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  ],
  ['no HTTP', 'PROTOCOL', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n')],
  [
    'an upgrade',
    'PROTOCOL',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'),
  ],
  ['a head of one line without end', 'TOO_LARGE', (socket) => repeat(socket, `HTTP/1.1 200 ${'a'.repeat(1_000)}`)],
  ['a reset', 'CONNECT', (socket) => socket.destroy()],
];

function repeat(socket: TLSSocket, text: string): void {
  const writing = setInterval(() => socket.write(text), 1);
  socket.on('close', () => clearInterval(writing));
}

it.each(hostile)('%s is a failure of the kind %s', async (_what, failure, act) => {
  const port = await startRawReceiver((socket) => socket.once('data', () => act(socket)));
  expect(await post(senderTo([port]), `https://localhost:${port}/`)).toMatchObject({
    status: undefined,
    failure,
  });
});

it('no more than 4 KiB of a response are read, and nothing of it is decoded', async () => {
  let taken = 0;
  const port = await startReceiver((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384))) taken += 16_384;
    };
    response.on('drain', write).on('error', () => undefined);
    write();
  });
  expect(await post(senderTo([port]), `https://localhost:${port}/`)).toMatchObject({
    status: 200,
  });
  // The system's buffers hold the rest.
  expect(taken).toBeLessThan(16 * 2 ** 20);
});

/** What a receiver may answer that is a success, whatever comes after its head. */
const successes: readonly [string, (socket: TLSSocket) => void][] = [
  [
    '200 after 100 Continue',
    (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  ],
  [
    'a page of 20 KiB',
    (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 20480\r\n\r\n${'a'.repeat(20_480)}`),
  ],
  [
    'a page without end',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      repeat(socket, 'a'.repeat(1_000));
    },
  ],
  [
    'an extension of a chunk without end',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1');
      repeat(socket, ';a=b'.repeat(250));
    },
  ],
];

it.each(successes)('%s is a success, at once', async (_what, act) => {
  const port = await startRawReceiver((socket) => socket.once('data', () => act(socket)));
  const result = await post(senderTo([port]), `https://localhost:${port}/`);
  expect(result).toMatchObject({ status: 200 });
  expect(result.durationMillis).toBeLessThan(10_000);
});

it('a handshake that needs a group of the server, or more than 32 KiB, is a failure', async () => {
  const finite = await startRawReceiver(() => undefined, {
    maxVersion: 'TLSv1.2',
    ciphers: 'DHE-RSA-AES256-GCM-SHA384',
    dhparam: 'auto',
  });
  expect(await post(senderTo([finite]), `https://localhost:${finite}/`)).toMatchObject({ failure: 'TLS' });
  const endless = await listen(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      // Records of a handshake whose message never ends.
      const record = Buffer.concat([Buffer.from([22, 3, 3, 4, 0, 2, 1, 0, 0]), Buffer.alloc(1_020)]);
      const writing = setInterval(() => socket.write(record), 1);
      socket.on('close', () => clearInterval(writing));
    }),
  );
  const result = await post(senderTo([endless]), `https://localhost:${endless}/`);
  expect(['TOO_LARGE', 'TLS']).toContain(result.failure);
});

it('a kept connection that was reset is no failure, whenever it was', async () => {
  let count = 0;
  const sockets = new Set<Socket>();
  const port = await startReceiver((request, response) => {
    count += 1;
    if (!sockets.has(request.socket)) response.end();
    else request.socket.destroy();
    sockets.add(request.socket);
  });
  const sender = senderTo([port]);
  for (let round = 0; round < 3; round += 1)
    expect(await post(sender, `https://localhost:${port}/`)).toMatchObject({ status: 200 });
  expect(count).toBe(5);
});

it('a certificate of another name, plain text and a closed port are failures', async () => {
  const port = await startReceiver((_request, response) => response.end());
  const plain = await listen(createServer((_request, response) => response.end()));
  const closed = 1;
  const nameServers = [await startNameServer(() => ['127.0.0.1'])];
  const sender = senderTo([port, plain, closed], { nameServers });
  const failures = [`https://another.example:${port}/`, `https://localhost:${plain}/`, `https://localhost:${closed}/`];
  const results = await Promise.all(failures.map((url) => post(sender, url)));
  expect(results.map(({ failure }) => failure)).toEqual(['TLS', 'TLS', 'CONNECT']);
  expect(results.map(({ cause }) => cause)).toEqual([
    expect.stringMatching(/^ERR_TLS_CERT_ALTNAME_INVALID: Hostname\/IP does not match/),
    'ERR_SSL_WRONG_VERSION_NUMBER: wrong version number',
    'ECONNREFUSED',
  ]);
});

it('the connection goes to the address that was checked, also when the name has another one a moment later', async () => {
  const addresses: Answer[] = [];
  const nameServers = [
    await startNameServer((name) => (name === 'moving.hooks.test' ? (addresses.shift() ?? ['127.0.0.1']) : undefined)),
  ];
  const port = await startReceiver((_request, response) => response.writeHead(200, { connection: 'close' }).end());
  const sender = senderTo([port], { nameServers });
  const url = `https://moving.hooks.test:${port}/`;
  expect(await post(sender, url)).toMatchObject({ status: 200 });
  // A and AAAA of one resolution.
  addresses.push(['127.0.0.1', '10.0.0.1'], ['127.0.0.1', '10.0.0.1']);
  expect(await post(sender, url)).toMatchObject({ failure: 'FORBIDDEN_ADDRESS' });
  addresses.push(['127.0.0.2'], []);
  expect(await post(sender, url)).toMatchObject({ failure: 'FORBIDDEN_ADDRESS' });
  expect(await post(sender, url)).toMatchObject({ status: 200 });
});

it('a connection is kept for the next request, and one that the receiver has closed meanwhile is no failure', async () => {
  const sockets = new Set<Socket>();
  const port = await startReceiver((request, response) => {
    sockets.add(request.socket);
    response.end();
  });
  const sender = senderTo([port]);
  const url = `https://localhost:${port}/`;
  for (let count = 0; count < 3; count += 1) await post(sender, url);
  expect(sockets.size).toBe(1);
  for (const socket of sockets) socket.destroy();
  expect(await post(sender, url)).toMatchObject({ status: 200 });
  expect(sockets.size).toBe(2);
});

it('a connection that is kept goes to an address that its name had a minute ago, and no longer', async () => {
  let addresses = ['127.0.0.1'];
  const nameServers = [await startNameServer(() => addresses)];
  const port = await startReceiver((_request, response) => response.end());
  const sender = senderTo([port], { nameServers });
  const url = `https://kept.hooks.test:${port}/`;
  expect(await post(sender, url)).toMatchObject({ status: 200 });
  addresses = ['10.0.0.1'];
  expect(await post(sender, url)).toMatchObject({ status: 200 });
  const now = performance.now.bind(performance);
  performance.now = () => now() + 61_000;
  try {
    expect(await post(sender, url)).toMatchObject({ failure: 'FORBIDDEN_ADDRESS' });
  } finally {
    performance.now = now;
  }
});

it('an IP address is sent no name, and its certificate is checked, whatever the environment says', async () => {
  const port = await startReceiver((_request, response) => response.end());
  const warnings: unknown[] = [];
  const note = (warning: unknown): unknown => warnings.push(warning);
  process.on('warning', note);
  const sender = senderTo([port], { nameServers: [await startNameServer(() => ['127.0.0.1'])] });
  expect(await post(sender, `https://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
  expect(warnings).toEqual([]);
  process.off('warning', note);
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  try {
    expect(await post(sender, `https://another.example:${port}/`)).toMatchObject({ failure: 'TLS' });
  } finally {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  }
});

it('a connection whose time is over before it was used is closed', async () => {
  const sockets: Socket[] = [];
  const port = await startRawReceiver((socket) => sockets.push(socket));
  const destinations = new Destinations({ ports: [port], allow: ['127.0.0.1/32'] });
  const connections = new Connections(destinations);
  const connection = await connections.take(new URL(`https://localhost:${port}/`), true, performance.now() + 1_000);
  await until(() => sockets.length === 1);
  connections.destroy(connection);
  await until(() => sockets[0]!.closed);
  const late = connections.take(new URL(`https://localhost:${port}/`), true, performance.now());
  await expect(late).rejects.toThrow('the receiver could not be connected to');
});

it('at most 8 requests are under way to one address, whatever names lead there', async () => {
  const waiting: (() => void)[] = [];
  const port = await startReceiver((_request, response) => waiting.push(() => response.end()));
  const nameServers = [await startNameServer(() => ['127.0.0.1'])];
  const sender = senderTo([port], { nameServers });
  const results = Array.from({ length: 12 }, (_, index) =>
    sender.send({ url: `https://name-${index}.hooks.test:${port}/`, ...message }),
  );
  let busy = 0;
  for (const result of results) inBackground(result.then((each) => (busy += each === 'busy' ? 1 : 0)));
  await until(() => waiting.length === 8 && busy === 4);
  for (const end of waiting) end();
  const outcomes = await Promise.all(results);
  expect(outcomes.filter((each) => each === 'busy')).toHaveLength(4);
});

it('a request ends after 15 s, however slowly bytes drip', async () => {
  const silent = await listen(createTcpServer((socket) => socket.on('error', () => undefined)));
  const port = await startRawReceiver((socket) => {
    const dripping = setInterval(() => socket.write('a'), 100);
    socket.on('close', () => clearInterval(dripping));
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nx: '));
  });
  const sender = senderTo([port, silent]);
  const results = await Promise.all([
    post(sender, `https://localhost:${port}/`),
    post(sender, `https://localhost:${silent}/`),
  ]);
  expect(results.map(({ failure }) => failure)).toEqual(['TIMEOUT', 'TIMEOUT']);
  expect(results[0].durationMillis).toBeLessThan(17_000);
  expect(results[1].durationMillis).toBeLessThan(5_000);
});

it('a receiver that wants another handshake on the same connection gets none', async () => {
  const handshakes: (Error | null)[] = [];
  const port = await startRawReceiver(
    (socket) => {
      socket.once('data', () => {
        socket.renegotiate({}, (error) => handshakes.push(error));
        // By then a client that does it has done it.
        setTimeout(() => socket.destroy(), 300);
      });
      socket.once('close', () => handshakes.push(new Error('closed')));
    },
    { maxVersion: 'TLSv1.2' },
  );
  expect(await post(senderTo([port]), `https://localhost:${port}/`)).toMatchObject({ status: undefined });
  await until(() => handshakes.length > 0);
  expect(handshakes[0]).toBeInstanceOf(Error);
});
