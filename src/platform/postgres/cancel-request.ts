import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';

import pg from 'pg';

import { AddressSocket } from './servers/server-address.ts';
import type { CancelTarget } from './pg-internals.ts';

/** The part of `pg`'s connection that its types omit. */
interface ProtocolConnection {
  readonly stream: { destroy(): void };
  attachListeners: (socket: Socket) => unknown;
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  on(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: () => void): void;
}

const timeoutMillis = 2_000;

/**
 * Cancels the statement of another connection, over a new connection to the same address with the same TLS settings.
 * The name is not resolved again: it may lead to another server by now.
 *
 * Resolves when the server has read it or can't be reached: only the statement's own connection shows whether it ended.
 */
export function requestCancel(
  { host, port, ssl, sslNegotiation, processID, secretKey }: CancelTarget,
  address: LookupAddress | undefined,
): Promise<void> {
  const config = { ssl, sslNegotiation, stream: () => new AddressSocket(address) };
  const connection = new pg.Connection(config) as unknown as ProtocolConnection;
  // Nothing is said on it but its end.
  connection.attachListeners = (socket) => socket.resume();
  return new Promise((resolve) => {
    const timeout = setTimeout(() => connection.stream.destroy(), timeoutMillis).unref();
    const cancel = (): void => connection.cancel(processID, secretKey);
    connection.on('connect', () => {
      if (ssl === false || ssl === undefined) cancel();
      else if (sslNegotiation !== 'direct') connection.requestSsl();
    });
    connection.on('sslconnect', cancel);
    connection.on('error', () => connection.stream.destroy());
    connection.on('end', () => {
      clearTimeout(timeout);
      resolve();
    });
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}
