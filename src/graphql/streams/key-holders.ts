import type { KeyDirectory } from '../../keys/key-directory.ts';
import type { Principal } from '../../domain/access/principal.ts';
import type { QuotaService } from '../../domain/quota/quota.service.ts';
import type { HttpError } from '../../http/error-table.ts';
import { banned, daySpent, keyEnded } from './stream-endings.ts';

export interface KeyChecks {
  readonly keys: Pick<KeyDirectory, 'find'>;
  readonly quota: Pick<QuotaService, 'peek' | 'consume'>;
}

/**
 * Bans in the counters, which may be in Redis, are looked up at every so many checks; those in the database at each.
 */
const checksBetweenPeeks = 4;

/** One key with open streams. */
export class KeyHolder {
  readonly key: string;
  readonly #checks: KeyChecks;
  /** As last found: its plan and expiry may change. */
  #principal: Principal;
  #isChecking = false;
  #count = 0;

  constructor(checks: KeyChecks, key: string, principal: Principal) {
    this.#checks = checks;
    this.key = key;
    this.#principal = principal;
  }

  /**
   * Why its streams have to end: the key isn't valid any more, or is banned. Never throws: without the database a known
   * key stays valid.
   */
  async findEnd(): Promise<HttpError | undefined> {
    if (this.#isChecking) return undefined;
    this.#isChecking = true;
    try {
      const principal = await this.#checks.keys.find(this.key);
      if (principal === undefined) return keyEnded();
      this.#principal = principal;
      this.#count += 1;
      const bannedMillis = (principal.bans?.bannedUntil ?? 0) - Date.now();
      if (bannedMillis > 0) return banned(Math.ceil(bannedMillis / 1000));
      if (this.#count % checksBetweenPeeks !== 0) return undefined;
      const decision = await this.#checks.quota.peek(principal);
      return decision.outcome === 'banned' ? banned(decision.retryAfterSeconds) : undefined;
    } catch {
      return undefined;
    } finally {
      this.#isChecking = false;
    }
  }

  /** Spends 1: `waits` when only the minute's window refuses it, the error when the day is spent. */
  async charge(): Promise<'charged' | 'waits' | HttpError> {
    const principal = this.#principal;
    const { quota } = this.#checks;
    try {
      // A refusal would count towards a ban.
      const { minute, day } = await quota.peek(principal);
      if (day.remaining < 1) return daySpent(Math.max(1, Math.ceil((day.resetsAt - Date.now()) / 1000)));
      if (minute.remaining < 1) return 'waits';
      const { outcome } = await quota.consume(principal, 1);
      return outcome === 'admitted' ? 'charged' : 'waits';
    } catch {
      return 'waits';
    }
  }
}
