import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
  type TLSSocket,
} from 'node:tls';

import { listen } from '../../support/listen.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** A certificate of `localhost`, `*.hooks.test` and 127.0.0.1 to 127.0.0.9, which this process trusts. */
export const certificate = makeCertificate();
/** For NODE_EXTRA_CA_CERTS of a service that is a process. */
export const certificatePath = certificate.path;
setDefaultCACertificates([...getCACertificates('bundled'), certificate.cert]);

/** Of another kind of key, it is of nobody that this process trusts. */
export function makeCertificate(key = 'ec -pkeyopt ec_paramgen_curve:prime256v1'): {
  readonly key: string;
  readonly cert: string;
  readonly path: string;
} {
  const cwd = temporaryDirectory();
  const addresses = Array.from({ length: 9 }, (_, index) => `IP:127.0.0.${index + 1}`);
  const names = `subjectAltName=DNS:localhost,DNS:*.hooks.test,${addresses.join()}`;
  const options = `req -x509 -newkey ${key} -nodes -days 2 -subj /CN=receiver -addext ${names}`;
  execFileSync('openssl', [...options.split(' '), '-keyout', 'key.pem', '-out', 'cert.pem'], { cwd, stdio: 'ignore' });
  const path = join(cwd, 'cert.pem');
  return { key: readFileSync(join(cwd, 'key.pem'), 'utf8'), cert: readFileSync(path, 'utf8'), path };
}

/** Listens with the certificate until the test ends, or its file. */
export async function startReceiver(listener: RequestListener, host?: string): Promise<number> {
  return listen(createServer(certificate, listener), host);
}

/** The same, for who writes what is no HTTP. */
export async function startRawReceiver(
  onConnection: (socket: TLSSocket) => void,
  options: TlsOptions = {},
  host?: string,
): Promise<number> {
  const server = createTlsServer({ ...certificate, ...options }, (socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  return listen(server, host);
}

export interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export async function received(request: IncomingMessage): Promise<Received> {
  return { headers: request.headers, body: await text(request) };
}
