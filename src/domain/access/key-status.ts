import { dayMillis, figuresOf, isOpen, minuteMillis } from '../../platform/quotas/index.ts';
import type { KeyStatus, ListedKey } from './api-key.store.ts';
import { limitsOf } from './plan.ts';

/** The status of a key at that instant. Revoked takes precedence over expired, expired over banned. */
export function statusOf({ revokedAt, expiresAt, bannedUntil }: ListedKey, now: number): KeyStatus {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt.getTime() <= now) return 'expired';
  return bannedUntil !== null && bannedUntil.getTime() > now ? 'banned' : 'active';
}

export interface WindowUsage {
  readonly spent: number;
  readonly limit: number;
  /** For a window that isn't open, the end that it would have if it opened now. */
  readonly resetAt: Date;
}

export interface KeyUsage {
  readonly minute: WindowUsage;
  readonly day: WindowUsage;
}

export function usageOf(key: ListedKey, now: number): KeyUsage {
  const { requestsPerMinute, requestsPerDay } = limitsOf(key);
  const { minuteOpenedAt = 0, minuteSpent = 0, dayOpenedAt = 0, daySpent = 0 } = key.usage ?? {};
  return {
    minute: windowUsage('minute', Number(minuteOpenedAt), minuteSpent, requestsPerMinute, now),
    day: windowUsage('day', Number(dayOpenedAt), daySpent, requestsPerDay, now),
  };
}

export function lastUsedAt({ usage }: ListedKey): Date | null {
  return usage === undefined ? null : new Date(Number(usage.lastUsedAt));
}

function windowUsage(
  name: 'minute' | 'day',
  savedOpenedAt: number,
  savedSpent: number,
  limit: number,
  now: number,
): WindowUsage {
  const saved = { openedAt: Math.min(savedOpenedAt, now), spent: savedSpent, firstRefusedAt: 0 };
  const isStillOpen = isOpen(saved, name === 'minute' ? minuteMillis : dayMillis, now);
  const { openedAt, spent } = isStillOpen ? saved : { openedAt: 0, spent: 0 };
  return { spent, limit, resetAt: new Date(figuresOf(name, { openedAt, spent }, limit, now).resetsAt) };
}
