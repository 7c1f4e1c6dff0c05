import type { Account, Accounts, Holding, Waiter } from './accounts.ts';
import type { Caller } from './caller.ts';
import { Waiters } from './waiters.ts';

/*
 * What a client holds only so much of:
 *
 * - exclusive connections, and those for slow statements (`platform/postgres/connection-slots.ts`); they are waited for
 * - reads on pipelined connections (`platform/postgres/pipeline/pipelined-connections.ts`); they are waited for
 * - connections to the database that are being opened (`platform/postgres/servers/servers.ts`); they are waited for
 * - requests that wait for a response, and where there are many, those that wait to begin (`platform/http/overload.ts`)
 * - bodies that are not complete (`platform/http/body.ts`)
 * - memory of requests, responses and streams (`memory.ts`); it is waited for
 * - new documents that are validated (`graphql/pipeline/new-documents.ts`); they are waited for
 * - texts of persisted documents (`graphql/pipeline/persisted-texts.ts`)
 * - event streams (`graphql/streams/event-streams.ts`)
 * - whole collections that are streamed (`rest/collection-slots.ts`)
 *
 * Two have the same waiters, and are no shares: the time of a tick of the event loop (`tick-time.ts`), and what one
 * client writes at a time (`platform/postgres/client-batches.ts`).
 */

/** Why something can't be had: the client has its part already, or all together have everything. */
export type Refusal = 'client' | 'all';

export interface ShareOptions {
  /**
   * What one client may hold; a function of how many clients hold something, the one that asks included, of its id, and
   * of how long it has used its last leases, on average.
   */
  readonly ofClient: number | ((clients: number, clientId: string, meanMillis: number) => number);
  /** What all may hold together. */
  readonly ofAll: number;
  /** How long callers wait at most, together with what they have waited for before. */
  readonly waitMillis?: number;
  /** The error for the client; called for each refusal. */
  readonly refuse: (refusal: Refusal, held: number) => Error;
}

/** For whom something is held. */
type Client = Pick<Caller, 'id'>;

type WaitingCaller = Client & Partial<Pick<Caller, 'signal' | 'waitedMillis' | 'beginWait' | 'endWait'>>;

/** Of the last lease in the mean of a client's leases. */
const weightOfLast = 1 / 8;

/** Something that a client holds, until `release`. */
export interface Lease {
  /** Its amount is another now. Without effect after `release`. */
  resize(amount: number): void;
  /** With what its client has used of it, in milliseconds. May be called more than once. */
  release(usedMillis?: number): void;
}

/**
 * Something of which the process has so much (bytes, streams, slots), leased to clients.
 *
 * Guarantees: no client holds more than its part, and all together never more than everything, but for what is resized.
 * No request waits longer than `waitMillis`, or for a request that is aborted. Those who wait are served by client, the
 * one that has used least first (see `Accounts`), and within a client in their order.
 */
export class Share {
  readonly #accounts: Accounts;
  readonly #options: ShareOptions;
  readonly #waiters: Waiters;
  readonly #ledger: Ledger = {
    add: (holding, amount) => {
      if (holding.amount === 0 && amount > 0) this.#holders += 1;
      holding.amount += amount;
      this.#held += amount;
      if (holding.amount === 0 && amount < 0) this.#holders -= 1;
      if (amount < 0) this.#grantWaiting();
    },
    use: (account, millis) => this.#accounts.use(account, millis),
  };
  #held = 0;
  #holders = 0;

  constructor(accounts: Accounts, options: ShareOptions) {
    this.#accounts = accounts;
    this.#options = options;
    this.#waiters = new Waiters(accounts);
  }

  /** What all clients hold. */
  get held(): number {
    return this.#held;
  }

  /** The clients that hold something. */
  get holders(): number {
    return this.#holders;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiters.all.length;
  }

  /** What a client holds. */
  heldBy({ id }: Client): number {
    return this.#waiters.holdingOf(this.#accounts.of(id)).amount;
  }

  /** How long a client has used its last leases, on average. */
  meanMillisOf({ id }: Client): number {
    return this.#waiters.holdingOf(this.#accounts.of(id)).meanMillis;
  }

  /** Why the client can't have so much more; undefined when it can. */
  refusalOf({ id }: Client, amount: number): Refusal | undefined {
    const account = this.#accounts.of(id);
    return this.#refusalOf(account, this.#waiters.holdingOf(account), amount);
  }

  /** The error for a client that can't have so much more; undefined when it can. */
  findRefusal(caller: Client, amount = 0): Error | undefined {
    const refusal = this.refusalOf(caller, amount);
    return refusal && this.#options.refuse(refusal, this.heldBy(caller));
  }

  /** Takes what the client has already, however much that is. */
  hold({ id }: Client, amount: number): Lease {
    const account = this.#accounts.of(id);
    return this.#lease(account, this.#waiters.holdingOf(account), amount);
  }

  /** Takes the amount now, or throws the refusal. */
  takeNow(caller: Client, amount = 1): Lease {
    const refusal = this.findRefusal(caller, amount);
    if (refusal !== undefined) throw refusal;
    return this.hold(caller, amount);
  }

  /** Takes the amount if it is free and no other request of the client waits for more. */
  tryTake({ id }: Client, amount = 1): Lease | undefined {
    const account = this.#accounts.of(id);
    const holding = this.#waiters.holdingOf(account);
    if (holding.waiters.length > 0 || this.#refusalOf(account, holding, amount) !== undefined) return undefined;
    return this.#lease(account, holding, amount);
  }

  /**
   * Takes the amount when it is free. Throws the refusal when the caller has waited for `waitMillis`, whatever it has
   * waited for, or the reason for which it was aborted; what several callers of a client wait for has no signal.
   */
  async take(caller: WaitingCaller, amount = 1): Promise<Lease> {
    return this.tryTake(caller, amount) ?? this.#wait(caller, amount);
  }

  /** Refuses all that wait. */
  refuseWaiting(error: Error): void {
    for (const waiter of this.#waiters.all) waiter.refuse(error);
  }

  #wait(caller: WaitingCaller, amount: number): Promise<Lease> {
    const { id, signal, waitedMillis = 0 } = caller;
    const account = this.#accounts.of(id);
    const holding = this.#waiters.holdingOf(account);
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
          resolve(this.#lease(account, holding, amount));
        },
        refuse: (error) => {
          stopWaiting();
          reject(error);
        },
      };
      const refuse = (): void => {
        waiter.refuse(this.#options.refuse(this.#refusalOf(account, holding, amount) ?? 'all', holding.amount));
      };
      const abort = (): void => waiter.refuse(signal?.reason as Error);
      const { waitMillis = 0 } = this.#options;
      const timeout = setTimeout(refuse, Math.max(0, waitMillis - waitedMillis)).unref();
      caller.beginWait?.();
      signal?.addEventListener('abort', abort);
      this.#waiters.add(waiter);
    });
  }

  #refusalOf({ id }: Account, { amount: held, meanMillis }: Holding, amount: number): Refusal | undefined {
    const { ofClient, ofAll } = this.#options;
    const part =
      typeof ofClient === 'number' ? ofClient : ofClient(this.#holders + (held === 0 ? 1 : 0), id, meanMillis);
    if (held + amount > part) return 'client';
    if (this.#held + amount > ofAll) return 'all';
    return undefined;
  }

  #lease(account: Account, holding: Holding, amount: number): Lease {
    this.#accounts.serve(account);
    holding.leases += 1;
    return new HeldLease(this.#ledger, account, holding, amount);
  }

  #grantWaiting(): void {
    const mayHave = ({ account, amount }: Waiter): boolean =>
      this.#refusalOf(account, this.#waiters.holdingOf(account), amount) === undefined;
    for (let next = this.#waiters.next(mayHave); next !== undefined; next = this.#waiters.next(mayHave)) next.grant();
  }
}

/** Where a share counts what its leases hold and use. */
interface Ledger {
  /** The amount may be negative. */
  add(holding: Holding, amount: number): void;
  use(account: Account, millis: number): void;
}

class HeldLease implements Lease {
  readonly #ledger: Ledger;
  readonly #account: Account;
  readonly #holding: Holding;
  #amount = 0;
  #isReleased = false;

  constructor(ledger: Ledger, account: Account, holding: Holding, amount: number) {
    this.#ledger = ledger;
    this.#account = account;
    this.#holding = holding;
    this.resize(amount);
  }

  resize(amount: number): void {
    if (this.#isReleased) return;
    const change = amount - this.#amount;
    this.#amount = amount;
    this.#ledger.add(this.#holding, change);
  }

  release(usedMillis?: number): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (usedMillis !== undefined) {
      this.#ledger.use(this.#account, usedMillis);
      this.#holding.meanMillis += (usedMillis - this.#holding.meanMillis) * weightOfLast;
    }
    this.#holding.leases -= 1;
    this.#ledger.add(this.#holding, -this.#amount);
  }
}
