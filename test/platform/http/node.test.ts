import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { listen } from '../../support/listen.ts';
import { receive, requestText, send } from './raw-requests.ts';

describe('Node, as this server relies on it,', () => {
  it('has a parser that stops within what it has read', async () => {
    let requests = 0;
    const server = createHttpServer((request) => {
      requests += 1;
      (request.socket as unknown as { readonly parser: { onIncoming: () => number } }).parser.onIncoming = () => 2;
      request.socket.destroy();
    });
    server.on('clientError', (_error, socket) => socket.destroy());
    const port = await listen(server);
    await receive(await send(port, requestText('/').repeat(500)));
    expect(requests).toBe(1);
  });

  it('has a parser that calls what is at `kOnBody`, 3, for each chunk of a body, and nothing while that is undefined', async () => {
    let chunks = 0;
    let bytes = 0;
    const server = createHttpServer((request, response) => {
      const { parser } = request.socket as unknown as {
        readonly parser: { 3: ((...chunk: unknown[]) => void) | undefined };
      };
      const { 3: copyChunk } = parser;
      parser[3] = (...chunk) => {
        chunks += 1;
        copyChunk?.apply(parser, chunk);
        if (chunks === 2) parser[3] = undefined;
      };
      request.on('data', (data: Buffer) => (bytes += data.length));
      request.on('end', () => {
        parser[3] = copyChunk;
        response.setHeader('connection', 'close').end();
      });
    });
    const port = await listen(server);
    const body = '1\r\nx\r\n'.repeat(5);
    const text = `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`;
    await receive(await send(port, text));
    expect([chunks, bytes]).toEqual([2, 2]);
  });

  it('remembers the address of a connection that has been asked for before the reset', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      expect(socket.remoteAddress).toBe('127.0.0.1');
    });
    const port = await listen(server);
    const client = connect(port, '127.0.0.1');
    const [socket] = (await once(server, 'connection')) as [Socket];
    client.resetAndDestroy();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(socket.remoteAddress).toBe('127.0.0.1');
  });
});
