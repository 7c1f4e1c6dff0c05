import type { AddressInfo, ListenOptions } from 'node:net';

import type { FastifyInstance } from 'fastify';

import { ConfigError } from '../settings/config.ts';

/** Connections that wait to be accepted; the system may allow fewer. */
export const backlog = 4096;

/** Starts to listen, and returns the address. Throws a ConfigError for a port or host that can't be used. */
export async function listenOn(
  server: FastifyInstance,
  host: string,
  port: number,
  portName: 'PORT' | 'METRICS_PORT',
): Promise<string> {
  try {
    return await server.listen({ host, port, backlog });
  } catch (error) {
    throw listenFailure(error, portName, host, port);
  }
}

/** The same for a server that knows no HTTP: the address that it returns is the one that a client would use. */
export async function listenForConnections(
  listen: (options: ListenOptions) => Promise<AddressInfo>,
  host: string,
  port: number,
): Promise<string> {
  try {
    const { address, family, port: bound } = await listen({ host, port, backlog });
    const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
    return `http://${family === 'IPv6' ? `[${reachable}]` : reachable}:${bound}`;
  } catch (error) {
    throw listenFailure(error, 'PORT', host, port);
  }
}

/** The error codes for an address that isn't one of this machine's. */
const foreignHost = /^(?:EACCES|EADDRNOTAVAIL|EAFNOSUPPORT|EAI_\w+|EINVAL|ENOTFOUND)$/;

/**
 * The error to throw when the service can't listen: a ConfigError that names the variable of the port, or HOST, if it
 * is for one of them.
 */
export function listenFailure(error: unknown, portName: 'PORT' | 'METRICS_PORT', host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code !== 'EADDRINUSE' && !foreignHost.test(code)) return error;
  const [name, value, right] =
    code === 'EADDRINUSE'
      ? [portName, port, 'a free port, or 0 for any free one']
      : code === 'EACCES' && port > 0
        ? [portName, port, 'a port that this user may listen on, usually one from 1024']
        : ['HOST', host, 'an address of this machine or its name, such as 127.0.0.1, localhost, or 0.0.0.0 for all'];
  return new ConfigError(`${name} is "${value}", but must be ${right}: ${(error as Error).message}.`, { cause: error });
}
