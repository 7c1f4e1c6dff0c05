import type { KeyDirectory } from '../../keys/key-directory.ts';
import type { Principal } from '../../domain/access/principal.ts';
import { hasEqualScopes } from '../../domain/access/scope.ts';
import { isUnavailable } from '../../domain/errors.ts';
import { type QuotaService, secondsUntil } from '../../platform/quotas/index.ts';
import type { StreamEnd, Subscriber } from '../../platform/feed/index.ts';
import { banned, daySpent, endFor, keyEnded, scopesChanged } from './stream-ends.ts';

export interface KeyChecks {
  readonly keys: Pick<KeyDirectory, 'find'>;
  readonly quota: Pick<QuotaService, 'peek' | 'consume'>;
  /** The database's clock. */
  readonly now: () => number;
  /** Called with what the key can't be checked for, unless that is a lost database. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/** Bans in the counters, which may be in Redis, are looked up so seldom; those in the database each time. */
const checksBetweenPeeks = 4;

/** One key with open streams. Without the database a known key stays valid. */
export class KeySubscriber implements Subscriber {
  readonly #checks: KeyChecks;
  readonly #key: string;
  /** As last found: its plan and expiry may change. */
  #principal: Principal;
  #count = 0;

  constructor(checks: KeyChecks, key: string, principal: Principal) {
    this.#checks = checks;
    this.#key = key;
    this.#principal = principal;
  }

  /** The key isn't valid any more, is banned, or may do something else than at the opening. */
  async findEnd(): Promise<StreamEnd | undefined> {
    try {
      const principal = await this.#checks.keys.find(this.#key);
      if (principal === undefined) return endFor(keyEnded());
      if (!hasEqualScopes(principal, this.#principal)) return endFor(scopesChanged());
      this.#principal = principal;
      this.#count += 1;
      const bannedMillis = (principal.bans?.bannedUntil ?? 0) - this.#checks.now();
      if (bannedMillis > 0) return endFor(banned(Math.ceil(bannedMillis / 1000)));
      if (this.#count % checksBetweenPeeks !== 0) return undefined;
      const decision = await this.#checks.quota.peek(principal);
      return decision.outcome === 'banned' ? endFor(banned(decision.retryAfterSeconds)) : undefined;
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  /** A spent minute is waited for; a spent day ends. */
  async charge(units: number): Promise<{ readonly spent: number; readonly end?: StreamEnd | undefined }> {
    const principal = this.#principal;
    const { quota } = this.#checks;
    try {
      // A refusal would count towards a ban.
      const { now, minute, day } = await quota.peek(principal);
      const affordable = Math.min(units, minute.remaining, day.remaining);
      const isAdmitted = affordable > 0 && (await quota.consume(principal, affordable)).outcome === 'admitted';
      const spent = isAdmitted ? affordable : 0;
      if (spent === units || day.remaining > spent) return { spent };
      return { spent, end: endFor(daySpent(secondsUntil(day.resetsAt, now))) };
    } catch (error) {
      this.#report(error);
      return { spent: 0 };
    }
  }

  #report(error: unknown): void {
    if (!isUnavailable(error)) this.#checks.onFailure(error);
  }
}
