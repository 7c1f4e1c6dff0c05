/** One client's part of one share: an amount, and those that wait for more. */
export interface Holding {
  amount: number;
  leases: number;
  /** In ticks alone: the virtual time of the client there. */
  usedMillis: number;
  /** How long the client's last leases have been used, on average; 0 before the first one. */
  meanMillis: number;
  /** In their order. No set: see "Nothing holds a request longer than it runs" in DECISIONS. */
  readonly waiters: Waiter[];
}

/** A request of a client that waits. */
export interface Waiter {
  readonly account: Account;
  readonly amount: number;
  readonly grant: () => void;
  readonly refuse: (error: Error) => void;
}

/** A client: a key, or an address without one. */
export interface Account {
  readonly id: string;
  /** Its virtual time: the milliseconds that it has used. A pause earns nothing: see `of`. */
  usedMillis: number;
  /** When it last used something. */
  usedAt: number;
  /** By the number of the share. */
  readonly holdings: (Holding | undefined)[];
}

/** Begins the id of a client that is an address without a key. */
export const addressPrefix = 'address:';

/** The client of the service's own work. */
export const service = '';

/** An estimate of the processor time of a request, and of each byte that it sends or gets. */
export const requestMillis = 0.05;
export const byteMillis = 0.0001;

/** A client that has used something within this time counts as active. */
const recentMillis = 1_000;

/** Idle accounts are forgotten when there are so many more than the last time. */
const sweepEvery = 10_000;

/** The clients of the process: what each holds of the shares (`Share`), and what it has used lately. */
export class Accounts {
  readonly #accounts = new Map<string, Account>();
  /** The virtual time of the client that was served last. */
  #clockMillis = 0;
  /** Clients that have used something last. */
  #last: Account | undefined;
  #secondLast: Account | undefined;
  #shares = 0;
  #sweepAt = sweepEvery;

  get size(): number {
    return this.#accounts.size;
  }

  /** Adds to what a client has used: time of the processor, or of the database. */
  use(account: Account, millis: number, now = performance.now()): void {
    account.usedMillis += millis;
    if (account.id === service) return;
    account.usedAt = now;
    if (account.id !== this.#last?.id) this.#secondLast = this.#last;
    this.#last = account;
  }

  hasOthers(clientId: string, now = performance.now()): boolean {
    const other = this.#last?.id === clientId ? this.#secondLast : this.#last;
    return other !== undefined && now - other.usedAt < recentMillis;
  }

  nextShare(): number {
    this.#shares += 1;
    return this.#shares - 1;
  }

  /**
   * The account of a client. Unless it waits, its virtual time is no less than that of the client that was served last.
   * Don't keep the account of a client that holds nothing: it may be forgotten.
   */
  of(clientId: string): Account {
    let account = this.#accounts.get(clientId);
    if (account === undefined) {
      if (this.#accounts.size >= this.#sweepAt) this.#sweep();
      account = { id: clientId, usedMillis: this.#clockMillis, usedAt: -Infinity, holdings: [] };
      this.#accounts.set(clientId, account);
    }
    if (account.usedMillis < this.#clockMillis && !isWaiting(account)) account.usedMillis = this.#clockMillis;
    return account;
  }

  /** The account is served: what it waited for, or takes, begins. */
  serve({ usedMillis }: Account): void {
    if (usedMillis > this.#clockMillis) this.#clockMillis = usedMillis;
  }

  #sweep(): void {
    for (const account of this.#accounts.values()) if (isIdle(account)) this.#accounts.delete(account.id);
    this.#sweepAt = this.#accounts.size + sweepEvery;
  }
}

function isIdle({ holdings }: Account): boolean {
  return holdings.every((holding) => holding === undefined || (holding.leases === 0 && holding.waiters.length === 0));
}

function isWaiting({ holdings }: Account): boolean {
  return holdings.some((holding) => holding !== undefined && holding.waiters.length > 0);
}

/** The queue for one thing. The client that has used least is served first, its requests in their order. */
export class Waiters {
  readonly #number: number;
  readonly #usedMillis: (account: Account) => number;
  /** Clients with waiters. */
  readonly #accounts: Account[] = [];

  constructor(accounts: Accounts, usedMillis = (account: Account): number => account.usedMillis) {
    this.#number = accounts.nextShare();
    this.#usedMillis = usedMillis;
  }

  get isEmpty(): boolean {
    return this.#accounts.length === 0;
  }

  get all(): readonly Waiter[] {
    return this.#accounts.flatMap((account) => this.holdingOf(account).waiters);
  }

  holdingOf({ holdings }: Account): Holding {
    return (holdings[this.#number] ??= { amount: 0, leases: 0, usedMillis: 0, meanMillis: 0, waiters: [] });
  }

  add(waiter: Waiter): void {
    const { waiters } = this.holdingOf(waiter.account);
    if (waiters.push(waiter) === 1) this.#accounts.push(waiter.account);
  }

  /** Returns whether it was there. */
  delete(waiter: Waiter): boolean {
    const { waiters } = this.holdingOf(waiter.account);
    if (!remove(waiters, waiter)) return false;
    // To the end: of clients that have used the same, the others are next.
    remove(this.#accounts, waiter.account);
    if (waiters.length > 0) this.#accounts.push(waiter.account);
    return true;
  }

  /** The next one of those that may have what they wait for. It takes a step for each client that waits. */
  next(mayHave: (waiter: Waiter) => boolean = () => true): Waiter | undefined {
    let next: Waiter | undefined;
    let least = Infinity;
    for (const account of this.#accounts) {
      if (this.#usedMillis(account) >= least) continue;
      const [first] = this.holdingOf(account).waiters;
      if (first === undefined || !mayHave(first)) continue;
      next = first;
      least = this.#usedMillis(account);
    }
    return next;
  }
}

/** Returns whether it was there. */
function remove<Element>(list: Element[], element: Element): boolean {
  const index = list.indexOf(element);
  if (index === 0) list.shift();
  else if (index > 0) list.splice(index, 1);
  return index >= 0;
}
