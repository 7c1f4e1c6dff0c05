import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';

import { findFreePort } from './free-port.ts';

/*
 * Receivers of webhooks that do their worst to who sends to them, so many of each kind:
 *
 *   node test/support/hostile-receivers-process.ts FOLDER COUNT
 *
 * The folder has a key of RSA, and a certificate of 127.0.0.2 and what follows. Prints the URLs by kind as JSON, and ends
 * with its input.
 */

/** Starts a receiver on an address of loopback; resolves with its port. */
type StartReceiver = (host: string) => Promise<number>;

const [folder = '', count = ''] = process.argv.slice(2);
/** One address each: of one address there are at most 8 requests under way. */
const hosts = Array.from({ length: Number(count) }, (_, index) => `127.0.0.${index + 2}`);
const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name), 'utf8')) as [string, string];
/** What is computed here should take no core from those that are measured. */
const priority = 10;

const openssl = (...options: string[]): string =>
  execFileSync('openssl', options, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

async function listen(server: Server, host: string): Promise<number> {
  await once(server.listen(0, host), 'listening');
  return (server.address() as AddressInfo).port;
}

function startReceiver(listener: RequestListener, host: string): Promise<number> {
  return listen(createServer({ key, cert }, listener), host);
}

/** For what is no HTTP. */
function startRawReceiver(
  onConnection: (socket: TLSSocket) => void,
  host: string,
  options: TlsOptions = {},
): Promise<number> {
  const server = createTlsServer({ key, cert, ...options }, (socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  return listen(server, host);
}

/** Writes as much as the other side takes. */
function repeat(socket: TLSSocket, text: string): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', write);
  write();
}

/**
 * A certificate issued by 60 authorities one after another, as many as fit into 32 KiB. Of this curve a signature takes
 * 2 ms to verify.
 */
function makeDearChain(): string {
  openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:brainpoolP512t1', '-out', 'dear.pem');
  const chain: string[] = [];
  for (let left = 60; left >= 0; left -= 1) {
    const issuer = chain.length === 0 ? [] : ['-CA', `${left + 1}.pem`, '-CAkey', 'dear.pem'];
    const options = ['-key', left === 0 ? 'key.pem' : 'dear.pem', '-days', '2', '-subj', `/CN=${left}`, ...issuer];
    openssl('req', '-x509', '-new', ...options, '-out', `${left}.pem`);
    chain.unshift(readFileSync(join(folder, `${left}.pem`), 'utf8'));
  }
  return chain.join('');
}

const dearChain = makeDearChain();

/** What a receiver may do. */
const kinds: Readonly<Record<string, StartReceiver>> = {
  'TLS 1.2 with a group of 6,144 bits': (host) =>
    startRawReceiver(
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
      host,
      {
        maxVersion: 'TLSv1.2',
        ciphers: 'DHE-RSA-AES256-GCM-SHA384',
        dhparam: openssl('genpkey', '-genparam', '-algorithm', 'DH', '-pkeyopt', 'group:ffdhe6144'),
      },
    ),
  'certificates that are dear to verify': (host) => startRawReceiver(() => undefined, host, { cert: dearChain }),
  'session tickets without end': async (host) => {
    const port = await findFreePort();
    // Ends with this process, however that ends.
    const command = `--pdeathsig KILL openssl s_server -accept ${host}:${port} -tls1_3 -num_tickets 100000 -quiet`;
    const options = `${command} -cert cert.pem -key key.pem`.split(' ');
    spawn('setpriv', options, { cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] });
    return port;
  },
  'a response that never begins': (host) =>
    startRawReceiver(
      (socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1');
          repeat(socket, ';a=b'.repeat(4_000));
        }),
      host,
    ),
  'informational responses without end': (host) =>
    startRawReceiver(
      (socket) =>
        socket.once('data', () => repeat(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(400))),
      host,
    ),
  '2xx after 1.5 s': (host) =>
    startReceiver((_request, response) => void setTimeout(() => response.writeHead(204).end(), 1_500), host),
  'quick and stalled responses in turn': (host) => {
    let requests = 0;
    return startReceiver((_request, response) => {
      requests += 1;
      if (requests % 2 === 0) response.writeHead(204).end();
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

setPriority(priority);
const urls: Record<string, string[]> = {};
for (const [kind, start] of Object.entries(kinds)) {
  const ports = await Promise.all(hosts.map(start));
  urls[kind] = hosts.map((host, index) => `https://${host}:${ports[index]}/`);
}
console.log(JSON.stringify(urls));
process.stdin.resume().on('end', () => process.exit());
