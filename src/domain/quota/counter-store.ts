import type { BanRecord } from './bans.ts';
import type { QuotaLimits, WindowFigures } from './window.ts';

/** Whose requests are counted together: a key, or the address of those who have none. */
export interface QuotaSubject {
  /** Of a key that of its principal; unique among keys and addresses. */
  readonly id: string;
  readonly limits: QuotaLimits;
  /** What the database knows of the key's bans; undefined for those who are never banned. */
  readonly bans: BanRecord | undefined;
  /** There is no end of addresses: the counters of those not seen for longest are forgotten, or shared, when there are too many. */
  readonly isAnonymous: boolean;
  /** Its counters don't outlive the process, and aren't the use of a key. */
  readonly isUnsaved?: boolean;
}

/** Admitted if both windows have `needs` left; then `spends` is taken from both. */
export interface Charge {
  readonly needs: number;
  readonly spends: number;
}

interface Figures {
  /** The store's time in milliseconds since 1970; what is counted in seconds from now begins here. */
  readonly now: number;
  readonly minute: WindowFigures;
  readonly day: WindowFigures;
}

interface Admitted extends Figures {
  readonly outcome: 'admitted';
}

interface Refused extends Figures {
  readonly outcome: 'refused';
  /** Whole seconds until the same request could succeed. */
  readonly retryAfterSeconds: number;
}

/** The cost exceeds a whole window: it can never be admitted, and has spent 1. */
interface TooCostly extends Figures {
  readonly outcome: 'too_costly';
  readonly largestCost: number;
}

interface Banned extends Figures {
  readonly outcome: 'banned';
  /** Whole seconds until the ban's end. */
  readonly retryAfterSeconds: number;
  /** The ban that this request has led to; it isn't saved yet. */
  readonly begun?: AutomaticBan | undefined;
}

/** What became of a request, with the figures as they are after it. */
export type QuotaDecision = Admitted | Refused | TooCostly | Banned;

/** Instants are milliseconds since 1970. */
export interface AutomaticBan {
  readonly begunAt: number;
  readonly until: number;
  /** That of the record which it belongs to; a later one means that the ban has been lifted. */
  readonly epoch: number;
}

/** Where requests and refusals are counted: in this process, or in Redis for any number of them. */
export interface CounterStore {
  /**
   * Decides in one step about both windows, the refusals and the ban, and counts.
   *
   * A denial is a result, not an error. Spends from both windows or from neither.
   */
  decide(subject: QuotaSubject, charge: Charge): Promise<QuotaDecision>;
}
