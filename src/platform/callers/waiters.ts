import type { Account, Accounts, Holding, Waiter } from './accounts.ts';

/** Who waits for one thing: served by client, the one that has used least first, within a client in their order. */
export class Waiters {
  readonly #number: number;
  readonly #usedMillis: (account: Account) => number;
  /** Those with waiters. */
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

  delete(waiter: Waiter): void {
    const { waiters } = this.holdingOf(waiter.account);
    if (!remove(waiters, waiter)) return;
    // To the end: of clients that have used the same, the others are next.
    remove(this.#accounts, waiter.account);
    if (waiters.length > 0) this.#accounts.push(waiter.account);
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
