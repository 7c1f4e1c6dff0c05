import type { FastifyReply } from 'fastify';

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
      const level = error instanceof Refusal ? 'info' : 'error';
      // A client that has gone is no failure.
      if (!request.raw.socket.destroyed) request.log[level]({ err: error }, 'The response could not be sent.');
      raw.destroy();
    });
}
