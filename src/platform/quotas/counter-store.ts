import type { BanRecord } from './bans.ts';
import type { QuotaLimits, WindowFigures } from './window.ts';

/** The unit of counting: a key, or the address of clients without one. */
export interface QuotaSubject {
  /** The id of the key, or of the address; unique among both. */
  readonly id: string;
  readonly limits: QuotaLimits;
  /** The stored bans of the key; undefined for subjects that are never banned. */
  readonly bans: BanRecord | undefined;
  /** Addresses are unlimited in number: beyond a maximum, the oldest counters are evicted, or counters are shared. */
  readonly isAnonymous: boolean;
  /** Its counters aren't saved, and aren't usage of a key. */
  readonly isUnsaved?: boolean | undefined;
}

/** Admitted if both windows have `needs` left; then `spends` is taken from both. */
export interface Charge {
  readonly needs: number;
  readonly spends: number;
  /**
   * For a request that something else has refused after it has spent its cost: counts as a refusal by the minute's
   * window, if that is open, whatever is left of it. An excused one doesn't count towards a ban.
   */
  readonly refusal?: 'counted' | 'excused' | undefined;
}

interface Figures {
  /** The store's time in milliseconds since 1970; what is counted in seconds from now begins here. */
  readonly now: number;
  readonly minute: WindowFigures;
  readonly day: WindowFigures;
}

/**
 * The decision about a request, with the figures after it. `retryAfterSeconds` are whole seconds until the same request
 * could succeed, or until the ban's end; `begun` is the ban that this request has begun, which isn't saved yet. A cost
 * beyond a whole window can never be admitted, and has spent 1.
 */
export type QuotaDecision = Figures &
  (
    | { readonly outcome: 'admitted' }
    | { readonly outcome: 'refused'; readonly retryAfterSeconds: number }
    | { readonly outcome: 'too_costly'; readonly largestCost: number }
    | { readonly outcome: 'banned'; readonly retryAfterSeconds: number; readonly begun?: AutomaticBan | undefined }
  );

/** Instants are milliseconds since 1970. */
export interface AutomaticBan {
  readonly begunAt: number;
  readonly until: number;
  /** The epoch of its record; a later epoch means that the ban has been lifted. */
  readonly epoch: number;
}

/** Where requests and refusals are counted: in this process, or in Redis for several processes. */
export interface CounterStore {
  /**
   * Decides in one step about both windows, the refusals and the ban, and counts.
   *
   * A denial is a result, not an error. Spends from both windows or from neither.
   */
  decide(subject: QuotaSubject, charge: Charge): QuotaDecision | Promise<QuotaDecision>;
}
