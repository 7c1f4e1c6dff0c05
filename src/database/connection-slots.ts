import { LruMap } from '../domain/lru-map.ts';
import type { RecentSubjects } from './recent-subjects.ts';

/** The wait for a turn timed out. MikroORM wraps errors and keeps their `code`. */
export class TurnRefused extends Error {
  override readonly name = 'TurnRefused';
  readonly code = 'TURN_REFUSED';

  constructor() {
    super('No connection was free in time');
  }
}

export interface TurnsOptions {
  /** The maximum number of turns at a time. */
  readonly capacity: number;
  /** The maximum for one subject, and for the slow turns of all subjects together. */
  readonly share: number;
  readonly waitMillis: number;
  readonly recent: Pick<RecentSubjects, 'hasOthers'>;
  /** Called when a wait has timed out. */
  readonly onRefusal?: (() => void) | undefined;
  readonly now?: (() => number) | undefined;
}

/** The request that a turn is for. */
interface Claimant {
  readonly subjectId: string;
  /** Aborted when it needs the turn no longer. */
  readonly signal: AbortSignal;
}

/** The use of a connection until `release` is called, once. */
export interface Turn {
  readonly release: () => void;
}

interface Waiter {
  readonly isSlow: boolean;
  /** Grows with each that waits. */
  readonly number: number;
  readonly resolve: (turn: Turn) => void;
  readonly reject: (error: Error) => void;
  /** Ends the timeout and the listener. */
  readonly stopWatching: () => void;
}

/** A subject that has turns or waits for them. */
interface Share {
  readonly name: string;
  taken: number;
  slowTaken: number;
  /** The time for which it has used connections. A subject that returns after a pause starts at the time of the active ones. */
  usedMillis: number;
  readonly waiting: Set<Waiter>;
  readonly waitingSlow: Set<Waiter>;
}

/** More subjects than use the database at a time. */
const rememberedSubjects = 1_000;

/**
 * Schedules the use of a limited number of connections.
 *
 * Model: each subject (a key) has queues of its own, for slow turns and for others. The next turn goes to the subject that has used connections
 * for the least time, as in start-time fair queuing; within a subject to the caller that waits longest. A turn is slow when it may take much of the
 * database's processors: a count, a search. Guarantees: no caller waits longer than `waitMillis`, or for a request that is aborted; one subject never has more than its share of the turns,
 * even while a connection is free; slow turns of all subjects together never take more than one share either, so that others don't
 * find every connection in use by them; while other subjects use the database, the slow turns of one run one by one. Choosing the next one
 * takes a step for each subject that waits. The service's own work, which has no subject, is limited only by the capacity.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #now: () => number;
  readonly #shares = new Map<string, Share>();
  /** Those with waiting callers; the one served last is the last. */
  readonly #waitingShares = new Set<Share>();
  readonly #usedMillis = new LruMap<string, number>(rememberedSubjects);
  #free: number;
  #slowTaken = 0;
  #waiting = 0;
  #arrivals = 0;
  /** The used time of the subject served last, when it was served. */
  #clock = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#free = options.capacity;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Every turn is taken. */
  get isFull(): boolean {
    return this.#free === 0;
  }

  /** Throws TurnRefused, or the reason of the signal. */
  take(claimant: Claimant | undefined, isSlow: boolean): Promise<Turn> {
    const share = this.#shareOf(claimant?.subjectId ?? '');
    if (this.#mayStart(share, isSlow)) return Promise.resolve(this.#start(share, isSlow));
    return new Promise((resolve, reject) => {
      const refuse = (): void => {
        this.#options.onRefusal?.();
        this.#reject(share, waiter, new TurnRefused());
      };
      const abort = (): void => this.#reject(share, waiter, claimant?.signal.reason as Error);
      const timeout = setTimeout(refuse, this.#options.waitMillis).unref();
      claimant?.signal.addEventListener('abort', abort);
      const waiter: Waiter = {
        isSlow,
        number: (this.#arrivals += 1),
        resolve,
        reject,
        stopWatching: () => {
          clearTimeout(timeout);
          claimant?.signal.removeEventListener('abort', abort);
        },
      };
      (isSlow ? share.waitingSlow : share.waiting).add(waiter);
      this.#waitingShares.add(share);
      this.#waiting += 1;
      this.#startWaiting();
    });
  }

  /** Refuses all waiting callers. */
  refuseAll(error: Error): void {
    for (const share of this.#waitingShares) {
      for (const waiter of [...share.waiting, ...share.waitingSlow]) {
        this.#remove(share, waiter);
        waiter.reject(error);
      }
    }
  }

  /** Starts the waiting callers that may start. */
  #startWaiting(): void {
    while (this.#free > 0 && this.#waiting > 0) {
      const next = this.#next();
      if (next === undefined) return;
      const { share, waiter } = next;
      this.#remove(share, waiter);
      // To the end of the queue: of those that have used the same time, the others are next.
      if (this.#waitingShares.delete(share)) this.#waitingShares.add(share);
      waiter.resolve(this.#start(share, waiter.isSlow));
    }
  }

  #next(): { readonly share: Share; readonly waiter: Waiter } | undefined {
    let next: { readonly share: Share; readonly waiter: Waiter } | undefined;
    for (const share of this.#waitingShares) {
      if (next !== undefined && next.share.usedMillis <= share.usedMillis) continue;
      const waiter = this.#firstOf(share);
      if (waiter !== undefined) next = { share, waiter };
    }
    return next;
  }

  /** Never overtakes a waiting caller of the same subject. */
  #mayStart(share: Share, isSlow: boolean): boolean {
    if (this.#free === 0 || share.waiting.size + share.waitingSlow.size > 0) return false;
    return this.#hasTurn(share) && (!isSlow || this.#hasSlowTurn(share));
  }

  /** The first of the subject that may have a turn. */
  #firstOf(share: Share): Waiter | undefined {
    if (!this.#hasTurn(share)) return undefined;
    const [waiter] = share.waiting;
    const [slow] = share.waitingSlow.size > 0 && this.#hasSlowTurn(share) ? share.waitingSlow : [];
    return waiter === undefined || (slow !== undefined && slow.number < waiter.number) ? slow : waiter;
  }

  #hasTurn({ name, taken }: Share): boolean {
    return name === '' || taken < this.#options.share;
  }

  #hasSlowTurn({ name, slowTaken }: Share): boolean {
    if (this.#slowTaken >= this.#options.share) return false;
    return slowTaken === 0 || !this.#options.recent.hasOthers(name);
  }

  #start(share: Share, isSlow: boolean): Turn {
    const startedAt = this.#now();
    const slow = isSlow ? 1 : 0;
    this.#free -= 1;
    this.#slowTaken += slow;
    share.taken += 1;
    share.slowTaken += slow;
    this.#clock = Math.max(this.#clock, share.usedMillis);
    return {
      release: () => {
        this.#free += 1;
        this.#slowTaken -= slow;
        share.taken -= 1;
        share.slowTaken -= slow;
        share.usedMillis += this.#now() - startedAt;
        this.#deleteIfIdle(share);
        this.#startWaiting();
      },
    };
  }

  #shareOf(name: string): Share {
    let share = this.#shares.get(name);
    if (share === undefined) {
      const usedMillis = Math.max(this.#clock, this.#usedMillis.get(name) ?? 0);
      share = { name, taken: 0, slowTaken: 0, usedMillis, waiting: new Set(), waitingSlow: new Set() };
      this.#shares.set(name, share);
    }
    return share;
  }

  #deleteIfIdle(share: Share): void {
    const { name, taken, usedMillis, waiting, waitingSlow } = share;
    if (taken + waiting.size + waitingSlow.size > 0) return;
    this.#shares.delete(name);
    this.#usedMillis.set(name, usedMillis);
  }

  #reject(share: Share, waiter: Waiter, error: Error): void {
    this.#remove(share, waiter);
    this.#deleteIfIdle(share);
    waiter.reject(error);
  }

  #remove(share: Share, waiter: Waiter): void {
    waiter.stopWatching();
    (waiter.isSlow ? share.waitingSlow : share.waiting).delete(waiter);
    if (share.waiting.size + share.waitingSlow.size === 0) this.#waitingShares.delete(share);
    this.#waiting -= 1;
  }
}
