import { AsyncResource } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';

import type { Account, Accounts, Holding } from './accounts.ts';

/** How many of those that wait get a chance in one tick of the event loop. */
const maxPerTick = 256;

/** The time of a tick in which a connection was accepted: there may be more, of which each tick accepts one. */
const hurriedMillis = 1;

/**
 * Shares the time of the event loop among the clients.
 *
 * Model: work begins as it comes while nothing waits and the tick has time left. What comes later waits, and so does
 * long work that has used the rest of a tick; both go on in later ticks, that of the client first which has used least
 * of this time (start-time fair queueing, as in `Accounts`; what a client waits for elsewhere doesn't count here),
 * within a client in their order.
 * Guarantees: every tick begins at least one piece of what waits, and after `millis` no further one; in a tick that has
 * accepted a connection after a millisecond. Choosing the next one takes a step for each client that waits.
 */
export class TickTime {
  readonly #accounts: Accounts;
  readonly #millis: number;
  readonly #number: number;
  readonly #waiting = new Set<Account>();
  /** The virtual time: what the client that was served last had used. A client's own is the amount that it holds. */
  #clockMillis = 0;
  #isScheduled = false;
  #hasBegunPiece = false;
  #isHurried = false;
  /** The client of the last piece, which goes on in microtasks, and when it began. */
  #current: Account | undefined;
  #beganAt = 0;
  /** When the current tick has no time left; undefined until that is asked. */
  #endsAt: number | undefined;

  /** `millis` is how long work begins in one tick. */
  constructor(accounts: Accounts, millis: number) {
    this.#accounts = accounts;
    this.#millis = millis;
    this.#number = accounts.nextShare();
  }

  /** Whether work may begin as it comes: nothing waits, and the tick has time left. */
  get isFree(): boolean {
    return this.#waiting.size === 0 && this.hasTime(performance.now());
  }

  /** Whether the tick has time left. */
  hasTime(now: number): boolean {
    this.#endsAt ??= this.#beginTick(now);
    return now < this.#endsAt;
  }

  /** A connection was accepted: the next tick whose time is asked is a short one. */
  hurry(): void {
    this.#isHurried = true;
  }

  /** Begins the work now, or in a later tick. */
  enter(clientId: string, begin: () => void): void {
    if (this.isFree) return begin();
    // Another client's work begins it, whose context isn't its own.
    this.wait(clientId, AsyncResource.bind(begin));
    return undefined;
  }

  /** Begins the work in a later tick. */
  wait(clientId: string, begin: () => void): void {
    const account = this.#accounts.entered(clientId);
    const holding = this.#holdingOf(account);
    if (holding.waiters.size === 0) holding.amount = Math.max(holding.amount, this.#clockMillis);
    holding.waiters.add({ amount: 0, grant: begin, refuse: () => undefined });
    this.#waiting.add(account);
    this.#schedule();
  }

  /** Resolves in a later tick, when the client's work may go on. */
  pause(clientId: string): Promise<void> {
    return new Promise((resolve) => this.wait(clientId, resolve));
  }

  #beginTick(now: number): number {
    setImmediate(() => {
      this.#endsAt = undefined;
    });
    const millis = this.#isHurried ? Math.min(hurriedMillis, this.#millis) : this.#millis;
    this.#isHurried = false;
    return now + millis;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    // One call for each: most of what a piece does follows in microtasks, which run between the calls.
    for (let index = 0; index < Math.min(this.#count(), maxPerTick); index += 1) setImmediate(() => this.#beginNext());
    setImmediate(() => {
      this.#endPiece(performance.now());
      this.#hasBegunPiece = false;
      this.#isScheduled = false;
      this.#schedule();
    });
  }

  #count(): number {
    let count = 0;
    for (const account of this.#waiting) {
      count += this.#holdingOf(account).waiters.size;
      if (count >= maxPerTick) return count;
    }
    return count;
  }

  #beginNext(): void {
    const now = performance.now();
    this.#endPiece(now);
    if (!this.hasTime(now) && this.#hasBegunPiece) return;
    const account = this.#next();
    if (account === undefined) return;
    const { waiters, amount } = this.#holdingOf(account);
    const [first] = waiters;
    if (first === undefined) return;
    waiters.delete(first);
    // To the end: of clients that have used the same, the others are next.
    this.#waiting.delete(account);
    if (waiters.size > 0) this.#waiting.add(account);
    this.#hasBegunPiece = true;
    this.#clockMillis = Math.max(this.#clockMillis, amount);
    this.#current = account;
    this.#beganAt = now;
    first.grant();
  }

  #next(): Account | undefined {
    let next: Account | undefined;
    let least = Infinity;
    for (const account of this.#waiting) {
      const { amount } = this.#holdingOf(account);
      if (amount >= least) continue;
      next = account;
      least = amount;
    }
    return next;
  }

  #endPiece(now: number): void {
    if (this.#current !== undefined) this.#holdingOf(this.#current).amount += now - this.#beganAt;
    this.#current = undefined;
  }

  #holdingOf({ holdings }: Account): Holding {
    return (holdings[this.#number] ??= { amount: 0, leases: 0, waiters: new Set() });
  }
}
