import { performance } from 'node:perf_hooks';

import { context } from '@opentelemetry/api';

import { attempt } from '../background.ts';
import { type Account, type Accounts, addressPrefix, type Waiter, Waiters } from './accounts.ts';
import type { Caller } from './caller.ts';

/** How long work begins in one tick of the event loop. */
const defaultMillis = 5;

/** How long of each tick the work that goes first may take. */
const firstMillis = 0.5;

/** Of ticks that accept a connection, work begins in one of so many, for so long, and that which goes first as long. */
const acceptingTicks = 8;
const acceptingMillis = 0.25;

/** Work that waits, in the order of the clients' virtual times. */
class ClientQueue {
  readonly #waiters: Waiters;
  /** The virtual time: what the client that was served last had used; while nothing waits, the most of any client. */
  #clockMillis = 0;
  #mostMillis = 0;

  constructor(accounts: Accounts) {
    this.#waiters = new Waiters(accounts, (account) => this.#waiters.holdingOf(account).usedMillis);
  }

  get isEmpty(): boolean {
    return this.#waiters.isEmpty;
  }

  add(account: Account, begin: () => void): Waiter {
    const holding = this.#waiters.holdingOf(account);
    if (holding.waiters.length === 0) holding.usedMillis = Math.max(holding.usedMillis, this.#clockMillis);
    const waiter: Waiter = { account, amount: 0, grant: begin, refuse: () => undefined };
    this.#waiters.add(waiter);
    return waiter;
  }

  /** Returns whether it was there. */
  delete(waiter: Waiter): boolean {
    return this.#waiters.delete(waiter);
  }

  /** Takes that of the client that has used least. */
  take(): Waiter | undefined {
    const next = this.#waiters.next();
    if (next === undefined) return undefined;
    this.#waiters.delete(next);
    this.#clockMillis = Math.max(this.#clockMillis, this.#waiters.holdingOf(next.account).usedMillis);
    return next;
  }

  deleteOneOf(account: Account): void {
    const [first] = this.#waiters.holdingOf(account).waiters;
    if (first !== undefined) this.#waiters.delete(first);
  }

  use(account: Account, millis: number): void {
    const holding = this.#waiters.holdingOf(account);
    holding.usedMillis += millis;
    this.#mostMillis = Math.max(this.#mostMillis, holding.usedMillis);
    if (this.isEmpty) this.#clockMillis = this.#mostMillis;
  }
}

/** Work that waits. All addresses without a key are one client among the keys, and take turns in its part. */
class WaitingWork {
  readonly #clients: ClientQueue;
  readonly #addresses: ClientQueue;
  readonly #allAddresses: Account;

  constructor(accounts: Accounts) {
    this.#clients = new ClientQueue(accounts);
    this.#addresses = new ClientQueue(accounts);
    this.#allAddresses = { id: addressPrefix, usedMillis: 0, usedAt: 0, holdings: [] };
  }

  get isEmpty(): boolean {
    return this.#clients.isEmpty;
  }

  /** Returns what takes it back. */
  add(account: Account, begin: () => void): () => void {
    if (!isAddress(account)) {
      const waiter = this.#clients.add(account, begin);
      return () => this.#clients.delete(waiter);
    }
    const waiter = this.#addresses.add(account, begin);
    // Whose turn that is isn't known yet: it holds no request.
    this.#clients.add(this.#allAddresses, nothing);
    return () => {
      if (this.#addresses.delete(waiter)) this.#clients.deleteOneOf(this.#allAddresses);
    };
  }

  /** Takes that of the client that has used least. */
  take(): Waiter | undefined {
    const next = this.#clients.take();
    return next?.account === this.#allAddresses ? this.#addresses.take() : next;
  }

  use(account: Account, millis: number): void {
    if (isAddress(account)) this.#addresses.use(account, millis);
    this.#clients.use(isAddress(account) ? this.#allAddresses : account, millis);
  }
}

function nothing(): void {}

function isAddress({ id }: Account): boolean {
  return id.startsWith(addressPrefix);
}

/** The work that was begun last, which goes on in microtasks. */
interface CurrentWork {
  readonly work: WaitingWork;
  readonly account: Account;
  readonly beganAt: number;
}

/** Shares the time of the event loop among the clients. */
export class TickTime {
  readonly #accounts: Accounts;
  readonly #millis: number;
  readonly #first: WaitingWork;
  readonly #work: WaitingWork;
  #isScheduled = false;
  #hasBegunWork = false;
  #current: CurrentWork | undefined;
  /** Whether this tick has accepted a connection, or the next one whose time is asked. */
  #isAccepting = false;
  /** How many ticks in a row have accepted one. */
  #acceptingTicks = 0;
  /** How long work begins in the current tick, and when it has no time left; undefined until that is asked. */
  #tickMillis = 0;
  #endsAt: number | undefined;
  /** The time that the current tick has left for work that goes first. */
  #firstLeftMillis = 0;

  /** `millis` is how long work begins in one tick. */
  constructor(accounts: Accounts, millis = defaultMillis) {
    this.#accounts = accounts;
    this.#millis = millis;
    this.#first = new WaitingWork(accounts);
    this.#work = new WaitingWork(accounts);
  }

  /** Whether work may begin as it comes: nothing waits, and the tick has time left. */
  get isFree(): boolean {
    return this.#work.isEmpty && this.#first.isEmpty && this.hasTime(performance.now());
  }

  hasTime(now: number): boolean {
    this.#endsAt ??= this.#beginTick(now);
    return now < this.#endsAt;
  }

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
    const stopWaiting = this.#work.add(this.#accounts.of(id), begin);
    this.#schedule();
    return stopWaiting;
  }

  /** Begins the work in a later tick, before what waits otherwise: for `firstMillis` of each tick, all such together. */
  waitFirst({ id }: Pick<Caller, 'id'>, begin: () => void): void {
    this.#first.add(this.#accounts.of(id), begin);
    this.#schedule();
  }

  #beginTick(now: number): number {
    setImmediate(() => {
      this.#endsAt = undefined;
    });
    this.#tickMillis = this.#isAccepting ? Math.min(this.#takeAcceptingMillis(), this.#millis) : this.#millis;
    if (!this.#isAccepting) this.#acceptingTicks = 0;
    this.#firstLeftMillis = Math.min(this.#tickMillis, firstMillis);
    this.#isAccepting = false;
    return now + this.#tickMillis;
  }

  /** Node accepts one connection in each tick, so those that wait to be accepted wait for all that ticks do. */
  #takeAcceptingMillis(): number {
    this.#acceptingTicks += 1;
    return this.#acceptingTicks % acceptingTicks === 1 ? acceptingMillis : 0;
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
    const hasTime = this.hasTime(now);
    if (this.#firstLeftMillis > 0 && this.#begin(this.#first, now)) return;
    const mayBegin = hasTime || (this.#tickMillis > 0 && !this.#hasBegunWork);
    if (mayBegin && this.#begin(this.#work, now)) {
      this.#hasBegunWork = true;
      return;
    }
    if (!this.#work.isEmpty || !this.#first.isEmpty) this.#schedule();
  }

  /** Returns whether there was any. */
  #begin(work: WaitingWork, now: number): boolean {
    const next = work.take();
    if (next === undefined) return false;
    this.#current = { work, account: next.account, beganAt: now };
    attempt(next.grant);
    // When the microtasks have run, in which most of the work is done.
    queueMicrotask(() => process.nextTick(() => this.#beginNext()));
    return true;
  }

  #endWork(now: number): void {
    if (this.#current === undefined) return;
    const { work, account, beganAt } = this.#current;
    work.use(account, now - beganAt);
    if (work === this.#first) this.#firstLeftMillis -= now - beganAt;
    this.#current = undefined;
  }
}
