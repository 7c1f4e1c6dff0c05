import type { FastifyReply, FastifyRequest } from 'fastify';

import { Refusal } from './refusal.ts';

/**
 * Lets a hook of Fastify go on when its promise is settled. When what follows throws, no response is possible any more:
 * the failure is logged, and the connection closed.
 */
export function continueAfter(
  promise: Promise<unknown>,
  { request, raw }: FastifyReply,
  done: (error: Error | null) => void,
): void {
  promise
    .then(() => done(null), done)
    .catch((error: unknown) => {
      abandon(request, error);
      raw.destroy();
    });
}

/** Logs why a request gets no response, unless its client has gone. */
function abandon(request: FastifyRequest, error: unknown): void {
  if (request.raw.socket.destroyed) return;
  request.log[error instanceof Refusal ? 'info' : 'error']({ err: error }, 'The response could not be sent.');
}
