import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
  type TLSSocket,
} from 'node:tls';

import { makeCertificate } from '../../support/certificate.ts';
import { listen } from '../../support/listen.ts';

/** A certificate of `localhost`, `*.hooks.test` and 127.0.0.1 to 127.0.0.20, which this process trusts. */
export const certificate = makeCertificate();
/** For NODE_EXTRA_CA_CERTS of a service that is a process. */
export const certificatePath = certificate.path;
setDefaultCACertificates([...getCACertificates('bundled'), certificate.cert]);

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
