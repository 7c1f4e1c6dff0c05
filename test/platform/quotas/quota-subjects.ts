import type { QuotaSubject } from '../../../src/platform/quotas/counter-store.ts';

/** The charge of one request. */
export const one = { needs: 1, spends: 1 };

/** A key with the plan Free unless it is told another, that was never banned. */
export function keyOf(id: string, requestsPerMinute = 60, requestsPerDay = 1_000): QuotaSubject {
  const bans = { epoch: 0, bannedUntil: 0, automaticBans: [] };
  return { id, limits: { requestsPerMinute, requestsPerDay }, bans, isAnonymous: false };
}

/** The clients without a key of one address. */
export function addressOf(address: string): QuotaSubject {
  return { ...keyOf(`address:${address}`), bans: undefined, isAnonymous: true };
}
