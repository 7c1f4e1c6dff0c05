import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a key must be allowed to do for this route. */
    scope?: 'read' | 'write';
    /** What the operation is called, for the metrics. */
    operationId?: string;
  }
}

/** Who is asking, as far as things belong to somebody: idempotency keys, places among the streams. */
export function principalIdOf(_request: FastifyRequest): string {
  return 'anonymous';
}
