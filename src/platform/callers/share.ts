import { type Account, type Accounts, type Waiter, Waiters } from './accounts.ts';
import type { Caller } from './caller.ts';

/** Which limit doesn't allow so much more: that of one client, or that of all together. */
export type ShareLimit = 'client' | 'all';

export interface ShareOptions {
  /**
   * The most that one client may hold; a function of how many clients hold something, the one that asks included, of
   * its id, and of how long it has used its last leases, on average.
   */
  readonly ofClient: number | ((clients: number, clientId: string, meanMillis: number) => number);
  /** The most that all may hold together. */
  readonly ofAll: number;
  /** How long callers wait at most, together with what they have waited for before. */
  readonly waitMillis?: number;
  /** The error for the client; called for each refusal. */
  readonly refuse: (limit: ShareLimit, held: number) => Error;
}

/** For whom something is held. */
type Client = Pick<Caller, 'id'>;

type WaitingCaller = Client & Partial<Pick<Caller, 'failure' | 'signal' | 'waitedMillis' | 'beginWait' | 'endWait'>>;

/** Of the last lease in the mean of a client's leases. */
const weightOfLast = 1 / 8;

/**
 * The method of `Share` that leases alone may call: a client holds so much more, in so many more leases, and has used
 * one for so long. A negative amount is less, and goes to those that wait.
 */
let count: (share: Share, account: Account, amount: number, leases: number, usedMillis?: number) => void;

/** A client's part of a share, until `release`. */
export class Lease {
  readonly #share: Share;
  readonly #account: Account;
  #amount: number;
  #isReleased = false;

  constructor(share: Share, account: Account, amount: number) {
    this.#share = share;
    this.#account = account;
    this.#amount = amount;
    count(share, account, amount, 1);
  }

  /** Its amount is another now. Without effect after `release`. */
  resize(amount: number): void {
    if (this.#isReleased) return;
    const more = amount - this.#amount;
    this.#amount = amount;
    count(this.#share, this.#account, more, 0);
  }

  /** With what its client has used of it, in milliseconds. May be called more than once. */
  release(usedMillis?: number): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    count(this.#share, this.#account, -this.#amount, -1, usedMillis);
  }
}

/** A limited resource of the process (bytes, streams, slots), leased to clients. */
export class Share {
  static {
    count = (share, account, amount, leases, usedMillis) => share.#count(account, amount, leases, usedMillis);
  }

  readonly #accounts: Accounts;
  readonly #options: ShareOptions;
  readonly #waiters: Waiters;
  #held = 0;
  #clients = 0;

  constructor(accounts: Accounts, options: ShareOptions) {
    this.#accounts = accounts;
    this.#options = options;
    this.#waiters = new Waiters(accounts);
  }

  get held(): number {
    return this.#held;
  }

  get clients(): number {
    return this.#clients;
  }

  get waiting(): number {
    return this.#waiters.all.length;
  }

  /** Whether more is held than there is, by `hold` and `resize`. */
  get isOverdrawn(): boolean {
    return this.#held > this.#options.ofAll;
  }

  heldBy({ id }: Client): number {
    return this.#waiters.holdingOf(this.#accounts.of(id)).amount;
  }

  /** How long a client has used its last leases, on average. */
  meanMillisOf({ id }: Client): number {
    return this.#waiters.holdingOf(this.#accounts.of(id)).meanMillis;
  }

  /** The most that a client may hold, when no other one holds anything. */
  mostOf({ id }: Client): number {
    return Math.min(this.#partOf(this.#accounts.of(id)), this.#options.ofAll);
  }

  /** The limit that doesn't allow the client so much more; undefined when both do. */
  limitFor({ id }: Client, amount: number): ShareLimit | undefined {
    return this.#limitFor(this.#accounts.of(id), amount);
  }

  /** The error for a client that can't have more because of the limit, and holds so much. */
  refusalOf(limit: ShareLimit, held: number): Error {
    return this.#options.refuse(limit, held);
  }

  /** The error for a client that can't have so much more; undefined when it can. */
  findRefusal(caller: Client, amount = 0): Error | undefined {
    const limit = this.limitFor(caller, amount);
    return limit && this.#options.refuse(limit, this.heldBy(caller));
  }

  /** Counts what the client holds already, whatever the limits say. */
  hold({ id }: Client, amount: number): Lease {
    return this.#lease(this.#accounts.of(id), amount);
  }

  /** Takes the amount now, or throws the refusal. */
  takeNow(caller: Client, amount = 1): Lease {
    const refusal = this.findRefusal(caller, amount);
    if (refusal !== undefined) throw refusal;
    return this.hold(caller, amount);
  }

  tryTake(caller: Client, amount = 1): Lease | undefined {
    return this.isFree(caller, amount) ? this.hold(caller, amount) : undefined;
  }

  /** Whether the client may have so much more, and no other request of it waits for that. */
  isFree({ id }: Client, amount: number): boolean {
    const account = this.#accounts.of(id);
    return this.#waiters.holdingOf(account).waiters.length === 0 && !this.#limitFor(account, amount);
  }

  /**
   * Takes the amount when it is free. Throws the refusal when the caller has waited for `waitMillis`, whatever it has
   * waited for, or its failure; what several callers of a client wait for has none.
   */
  async take(caller: WaitingCaller, amount = 1): Promise<Lease> {
    if (caller.failure !== undefined) throw caller.failure;
    return this.tryTake(caller, amount) ?? this.#wait(caller, amount);
  }

  refuseWaiting(error: Error): void {
    for (const waiter of this.#waiters.all) waiter.refuse(error);
  }

  #wait(caller: WaitingCaller, amount: number): Promise<Lease> {
    const { id, signal, waitedMillis = 0 } = caller;
    const account = this.#accounts.of(id);
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        clearTimeout(timeout);
        caller.endWait?.();
        signal?.removeEventListener('abort', abort);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        account,
        amount,
        grant: () => {
          stopWaiting();
          resolve(this.#lease(account, amount));
        },
        refuse: (error) => {
          stopWaiting();
          reject(error);
        },
      };
      const refuse = (): void => {
        waiter.refuse(this.#options.refuse(this.#limitFor(account, amount) ?? 'all', this.heldBy(caller)));
      };
      const abort = (): void => waiter.refuse(signal?.reason as Error);
      const { waitMillis = 0 } = this.#options;
      const timeout = setTimeout(refuse, Math.max(0, waitMillis - waitedMillis)).unref();
      caller.beginWait?.();
      signal?.addEventListener('abort', abort);
      this.#waiters.add(waiter);
    });
  }

  #limitFor(account: Account, amount: number): ShareLimit | undefined {
    if (this.#waiters.holdingOf(account).amount + amount > this.#partOf(account)) return 'client';
    return this.#held + amount > this.#options.ofAll ? 'all' : undefined;
  }

  #partOf(account: Account): number {
    const { ofClient } = this.#options;
    if (typeof ofClient === 'number') return ofClient;
    const { amount, meanMillis } = this.#waiters.holdingOf(account);
    return ofClient(this.#clients + (amount === 0 ? 1 : 0), account.id, meanMillis);
  }

  #lease(account: Account, amount: number): Lease {
    this.#accounts.serve(account);
    return new Lease(this, account, amount);
  }

  #count(account: Account, amount: number, leases: number, usedMillis: number | undefined): void {
    const holding = this.#waiters.holdingOf(account);
    if (usedMillis !== undefined) {
      this.#accounts.use(account, usedMillis);
      holding.meanMillis += (usedMillis - holding.meanMillis) * weightOfLast;
    }
    holding.leases += leases;
    if (holding.amount === 0 && amount > 0) this.#clients += 1;
    holding.amount += amount;
    this.#held += amount;
    if (amount >= 0) return;
    if (holding.amount === 0) this.#clients -= 1;
    const mayHave = (waiter: Waiter): boolean => !this.#limitFor(waiter.account, waiter.amount);
    for (let next = this.#waiters.next(mayHave); next !== undefined; next = this.#waiters.next(mayHave)) next.grant();
  }
}
