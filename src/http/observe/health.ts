import type { FastifyInstance } from 'fastify';

import { DomainError } from '../../domain/errors.ts';

export interface HealthOptions {
  /** Rejects when the service isn't ready. */
  readonly checkReady: () => Promise<void>;
  readonly isDraining: () => boolean;
  /** How long the result of a check is used again. */
  readonly checkEveryMillis?: number;
}

const checkTimeoutMillis = 2_000;
const retryAfterSeconds = 5;

/** `/healthz`: the process is alive. `/readyz`: it can serve. Probes call both often. */
export function registerHealth(
  server: FastifyInstance,
  { checkReady, isDraining, checkEveryMillis = 1_000 }: HealthOptions,
): void {
  const config = { isPublic: true, isServedUnderOverload: true };
  let checking: Promise<string | undefined> | undefined;

  let checkedAt = -Infinity;
  // It is public, so all callers share one check, which begins again a while after the last one has ended.
  const findReason = (): Promise<string | undefined> => {
    if (checking === undefined || performance.now() - checkedAt >= checkEveryMillis) {
      checkedAt = Infinity;
      checking = reasonNotReady(checkReady).finally(() => (checkedAt = performance.now()));
    }
    return checking;
  };

  server.get('/healthz', { config }, async (_request, reply) => {
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
  server.get('/readyz', { config }, async (_request, reply) => {
    const reason = isDraining() ? 'The service is shutting down.' : await findReason();
    void reply.header('cache-control', 'no-store');
    if (reason === undefined) return reply.send({ status: 'ready' });
    return reply
      .code(503)
      .header('retry-after', String(retryAfterSeconds))
      .send({ status: 'unavailable', reasons: [reason] });
  });
}

/** Without internal details, since it is public. */
async function reasonNotReady(checkReady: () => Promise<void>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('The store takes too long to respond.'), checkTimeoutMillis);
  });
  const check = checkReady().then(
    () => undefined,
    (error: unknown) => (error instanceof DomainError ? error.message : 'The store is not available.'),
  );
  return Promise.race([check, timeout]).finally(() => clearTimeout(timer));
}
