import { type QuotaDecision, tightest } from '../platform/quotas/index.ts';

type ShownFigures = Pick<QuotaDecision, 'now' | 'minute' | 'day'>;

/** The names of the headers below, for clients of other origins. */
export const quotaHeaderNames = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
] as const;

/** The cost of a request to `/graphql`; elsewhere a request costs 1. */
export const costHeaderName = 'X-RateLimit-Cost';

/** The operation's complexity, which counts towards its limit, and not towards the quota. */
export const complexityHeaderName = 'X-GraphQL-Complexity';

/**
 * The remaining quota: the window with the fewest requests left in the customary `X-RateLimit-` headers, whose reset is
 * in Unix seconds, and both windows as draft-ietf-httpapi-ratelimit-headers-10 has them, whose `t` is in seconds from
 * now.
 */
export function quotaHeaders({ now, minute, day }: ShownFigures): Record<string, string> {
  const { limit, remaining, resetsAt } = tightest(minute, day);
  const seconds = (instant: number): number => Math.max(0, Math.ceil((instant - now) / 1000));
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetsAt / 1000)),
    'ratelimit-policy': `"minute";q=${minute.limit};w=${minute.lengthSeconds}, "day";q=${day.limit};w=${day.lengthSeconds}`,
    ratelimit: `"minute";r=${minute.remaining};t=${seconds(minute.resetsAt)}, "day";r=${day.remaining};t=${seconds(day.resetsAt)}`,
  };
}
