import type { FastifyInstance } from 'fastify';

import { listenFailure } from '../settings/config.ts';

/** Connections that wait to be accepted; the system may allow fewer. */
const backlog = 4096;

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
