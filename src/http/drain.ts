import { setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

export interface DrainOptions {
  /** How long requests are still accepted, so that a load balancer notices. */
  readonly delaySeconds: number;
  /** How long those under way may take after that. */
  readonly timeoutSeconds: number;
}

/**
 * Closes the server without failing a request: keeps serving during the delay, then stops listening and finishes what is under way.
 * Requests still under way at the timeout are aborted.
 */
export async function drain(server: FastifyInstance, { delaySeconds, timeoutSeconds }: DrainOptions): Promise<void> {
  server.connections.startDraining();
  if (delaySeconds > 0) await sleep(delaySeconds * 1000);
  const deadline = setTimeout(() => server.connections.destroyAll(), timeoutSeconds * 1000);
  try {
    await server.close();
  } finally {
    clearTimeout(deadline);
  }
}
