import { execFileSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import type { TLSSocket } from 'node:tls';

import { certificate, makeCertificate, startRawReceiver, startReceiver } from '../platform/egress/receiver.ts';
import { spawnChild } from '../support/child-process.ts';
import { findFreePort } from '../support/free-port.ts';

/** Starts a receiver on an address of loopback; resolves with its port. */
type StartReceiver = (host: string) => Promise<number>;

const openssl = (...options: string[]): string => execFileSync('openssl', options, { encoding: 'utf8', stdio: 'pipe' });

// A certificate of its kind is needed for the group; whether it is trusted comes later.
const rsa = makeCertificate('rsa:2048');

/** Writes as much as the other side takes. */
function repeat(socket: TLSSocket, text: string): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', write);
  write();
}

/** What a receiver may do to who sends to it. */
export const receivers: Readonly<Record<string, StartReceiver>> = {
  'TLS 1.2 with a group of 6,144 bits': (host) =>
    startRawReceiver(
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
      {
        ...rsa,
        maxVersion: 'TLSv1.2',
        ciphers: 'DHE-RSA-AES256-GCM-SHA384',
        dhparam: openssl('genpkey', '-genparam', '-algorithm', 'DH', '-pkeyopt', 'group:ffdhe6144'),
      },
      host,
    ),
  'a chain of 60 certificates': (host) =>
    startRawReceiver(() => undefined, { cert: certificate.cert.repeat(60), maxVersion: 'TLSv1.2' }, host),
  'session tickets without end': async (host) => {
    const port = await findFreePort();
    const options = `s_server -accept ${host}:${port} -tls1_3 -num_tickets 100000 -quiet -cert cert.pem -key key.pem`;
    spawnChild('openssl', options.split(' '), { cwd: dirname(certificate.path), stdio: ['pipe', 'ignore', 'ignore'] });
    return port;
  },
  'a response that never begins': (host) =>
    startRawReceiver(
      (socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1');
          repeat(socket, ';a=b'.repeat(4_000));
        }),
      {},
      host,
    ),
  'informational responses without end': (host) =>
    startRawReceiver(
      (socket) =>
        socket.once('data', () => repeat(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(400))),
      {},
      host,
    ),
  '2xx after 1.5 s': (host) =>
    startReceiver((_request, response) => void setTimeout(() => response.writeHead(204).end(), 1_500), host),
  'quick and stalled responses in turn': (host) => {
    let count = 0;
    return startReceiver((_request, response) => {
      count += 1;
      if (count % 2 === 0) response.writeHead(204).end();
    }, host);
  },
  'kept connections that are reset': (host) => {
    const used = new Set<Socket>();
    return startReceiver(({ socket }, response) => {
      if (used.has(socket)) socket.destroy();
      else response.writeHead(204).end();
      used.add(socket);
    }, host);
  },
};
