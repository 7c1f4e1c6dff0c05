import { performance } from 'node:perf_hooks';

import { context } from '@opentelemetry/api';

import { attempt } from '../background.ts';
import { type Account, type Accounts, type Waiter, Waiters } from './accounts.ts';
import type { Caller } from './caller.ts';

/** How long work begins in one tick of the event loop. */
const defaultMillis = 5;

/** The same in a tick that has accepted a connection. */
const acceptingMillis = 0.25;

/** Shares the time of the event loop among the clients. */
export class TickTime {
  readonly #accounts: Accounts;
  readonly #millis: number;
  readonly #waiters: Waiters;
  /** The virtual time: what the client that was served last had used; while nothing waits, the most of any client. */
  #clockMillis = 0;
  #mostMillis = 0;
  #isScheduled = false;
  #hasBegunWork = false;
  /** Whether this tick has accepted a connection, or the next one whose time is asked. */
  #isAccepting = false;
  /** The client of the last work, which goes on in microtasks, and when it began. */
  #current: Account | undefined;
  #beganAt = 0;
  /** When the current tick has no time left; undefined until that is asked. */
  #endsAt: number | undefined;

  /** `millis` is how long work begins in one tick. */
  constructor(accounts: Accounts, millis = defaultMillis) {
    this.#accounts = accounts;
    this.#millis = millis;
    this.#waiters = new Waiters(accounts, (account) => this.#waiters.holdingOf(account).usedMillis);
  }

  /** Whether work may begin as it comes: nothing waits, and the tick has time left. */
  get isFree(): boolean {
    return this.#waiters.isEmpty && this.hasTime(performance.now());
  }

  /** Whether the tick has time left. */
  hasTime(now: number): boolean {
    this.#endsAt ??= this.#beginTick(now);
    return now < this.#endsAt;
  }

  /** A connection was accepted. */
  accept(): void {
    this.#isAccepting = true;
  }

  /** Begins the work now, or in a later tick. */
  enter(caller: Pick<Caller, 'id'>, begin: () => void): void {
    if (this.isFree) return begin();
    // Another client's work begins it, in whose trace it isn't.
    this.wait(caller, context.bind(context.active(), begin));
    return undefined;
  }

  /** Begins the work in a later tick, unless what it returns is called before. */
  wait({ id }: Pick<Caller, 'id'>, begin: () => void): () => void {
    const account = this.#accounts.of(id);
    const holding = this.#waiters.holdingOf(account);
    if (holding.waiters.length === 0) holding.usedMillis = Math.max(holding.usedMillis, this.#clockMillis);
    const waiter: Waiter = { account, amount: 0, grant: begin, refuse: () => undefined };
    this.#waiters.add(waiter);
    this.#schedule();
    return () => this.#waiters.delete(waiter);
  }

  #beginTick(now: number): number {
    setImmediate(() => {
      this.#endsAt = undefined;
    });
    const millis = this.#isAccepting ? Math.min(acceptingMillis, this.#millis) : this.#millis;
    this.#isAccepting = false;
    return now + millis;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#hasBegunWork = false;
      this.#isScheduled = false;
      this.#beginNext();
    });
  }

  #beginNext(): void {
    const now = performance.now();
    this.#endWork(now);
    const next = this.#waiters.next();
    if (next === undefined) {
      this.#clockMillis = this.#mostMillis;
      return;
    }
    if (!this.hasTime(now) && this.#hasBegunWork) return this.#schedule();
    this.#waiters.delete(next);
    this.#hasBegunWork = true;
    this.#clockMillis = Math.max(this.#clockMillis, this.#waiters.holdingOf(next.account).usedMillis);
    this.#current = next.account;
    this.#beganAt = now;
    attempt(next.grant);
    // When the microtasks have run, in which most of the work is done.
    queueMicrotask(() => process.nextTick(() => this.#beginNext()));
  }

  #endWork(now: number): void {
    if (this.#current === undefined) return;
    const holding = this.#waiters.holdingOf(this.#current);
    holding.usedMillis += now - this.#beganAt;
    this.#mostMillis = Math.max(this.#mostMillis, holding.usedMillis);
    this.#current = undefined;
  }
}
