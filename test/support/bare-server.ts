import type { FastifyInstance } from 'fastify';

import type { Principal } from '../../src/domain/access/principal.ts';
import { figuresOf, newWindow, type QuotaLimits } from '../../src/platform/quotas/window.ts';
import { Meter } from '../../src/http/authentication.ts';

const limits: QuotaLimits = { requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 };

/** The holder of every request. */
const principal: Principal = {
  id: 'any',
  name: 'any',
  plan: 'enterprise',
  scopes: ['admin'],
  expiresAt: null,
  limits,
  bans: undefined,
  isAnonymous: false,
};

/**
 * For suites that aren't about keys: every request is admitted, under the id in its header X-Principal, and nothing is
 * counted.
 */
export function admitAll(): FastifyInstance['authentication'] {
  return {
    admit: async (request, reply) => {
      const id = request.headers['x-principal'];
      request.principal = typeof id === 'string' ? { ...principal, id } : principal;
      const admitted = () => {
        const now = Date.now();
        const minute = figuresOf('minute', newWindow(), limits.requestsPerMinute, now);
        const day = figuresOf('day', newWindow(), limits.requestsPerDay, now);
        return { outcome: 'admitted', now, minute, day } as const;
      };
      const quota = {
        check: admitted,
        consume: admitted,
        peek: admitted,
        consumeFree: async () => ({ cost: 0, decision: admitted() }) as const,
        countRefusedOpening: async () => admitted(),
      };
      request.meter = new Meter({ quota }, request.principal, reply);
    },
    headersFor: async () => ({ 'x-ratelimit-limit': String(limits.requestsPerMinute) }),
  };
}

/**
 * For suites that are about neither overload nor the start of requests: a machine that is busy with other suites delays
 * the event loop at any time.
 */
export const anyDelay = { maxDelayMillis: Infinity, tickMillis: Infinity };
