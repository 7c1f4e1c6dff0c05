import { type Account, type Accounts, type Caller, type Waiter, Waiters } from '../callers/index.ts';
import { inBackground } from '../background.ts';
import { isLoss, isReadOnly, recordFailure, throwIfLost } from './driver-errors.ts';

/** What one caller wants to have done. */
interface WaitingEntry<Work, Result> extends Waiter {
  readonly caller: Caller;
  readonly work: Work;
  readonly grant: (result?: Result) => void;
}

export interface BatchOptions<Work, Result> {
  readonly accounts: Accounts;
  readonly maxEntries: number;
  readonly doAlone: (caller: Caller, work: Work) => Promise<Result>;
  /**
   * Does all of them or, when it rejects, none, unless the database is lost: then each is done alone. So what is found
   * once they may be committed is no rejection, but a result. It has a caller of its own: that of one work can't end
   * all. It must not wait long: it may be one work that waits.
   */
  readonly doTogether: (caller: Caller, works: readonly Work[]) => Promise<readonly Result[]>;
}

/** Enough for one to be sent while another is written to disk. */
const maxUnderWay = 2;

/** Then it waits for something, which is no reason for others to wait. */
const maxUnderWayMillis = 200;

/**
 * Gathers what comes at the same time from one client (a key), to be done together.
 *
 * Model: while two batches of a client are under way, its further entries wait in its account, and the next batch has
 * them all. What comes in one tick of the event loop is in one batch.
 * Guarantees: entries of different clients are never in one batch; no entry waits longer than 200 ms for earlier
 * batches; one without others at its time is done alone; one whose client has disconnected before is not done.
 * Failure: a lost or read-only database fails all entries of a batch, of which all or none have been done; after any
 * other failure, a time-out or a wait for a connection among them, each is done alone, so that none waits or fails
 * because of another.
 */
export class ClientBatches<Work, Result> {
  readonly #options: BatchOptions<Work, Result>;
  readonly #waiters: Waiters;

  constructor(options: BatchOptions<Work, Result>) {
    this.#options = options;
    this.#waiters = new Waiters(options.accounts);
  }

  async add(caller: Caller, work: Work): Promise<Result> {
    throwIfLost(caller);
    const account = this.#options.accounts.of(caller.id);
    const isFirst = this.#waitingOf(account).length === 0;
    return new Promise((resolve, refuse) => {
      const entry: WaitingEntry<Work, Result> = {
        account,
        amount: 1,
        caller,
        work,
        grant: (result) => resolve(result as Result),
        refuse,
      };
      caller.beginWait();
      this.#waiters.add(entry);
      if (isFirst) this.#beginNext(account);
    });
  }

  #waitingOf(account: Account): readonly WaitingEntry<Work, Result>[] {
    const waiters: readonly unknown[] = this.#waiters.holdingOf(account).waiters;
    return waiters as readonly WaitingEntry<Work, Result>[];
  }

  /** Begins a batch of those that wait, if any, when the client may have one more. */
  #beginNext(account: Account): void {
    const [first] = this.#waitingOf(account);
    const holding = this.#waiters.holdingOf(account);
    if (first === undefined || holding.leases >= maxUnderWay) return;
    holding.leases += 1;
    setImmediate(() => inBackground(this.#doNext(account)));
  }

  async #doNext(account: Account): Promise<void> {
    const batch = this.#waitingOf(account).slice(0, this.#options.maxEntries);
    for (const entry of batch) this.#waiters.delete(entry);
    this.#beginNext(account);
    let isUnderWay = true;
    const end = (): void => {
      if (!isUnderWay) return;
      isUnderWay = false;
      clearTimeout(timeout);
      this.#waiters.holdingOf(account).leases -= 1;
      this.#beginNext(account);
    };
    const timeout = setTimeout(end, maxUnderWayMillis).unref();
    try {
      await this.#do(batch);
    } finally {
      end();
    }
  }

  async #do(batch: readonly WaitingEntry<Work, Result>[]): Promise<void> {
    const { doAlone, doTogether } = this.#options;
    const { ended = [], entries = [] } = Object.groupBy(batch, ({ caller }) =>
      caller.failure === undefined ? 'entries' : 'ended',
    );
    endWaits(ended);
    for (const { caller, refuse } of ended) refuse(caller.failure as Error);
    const [first, ...others] = entries;
    if (first !== undefined && others.length > 0) {
      for (const { caller } of entries) caller.recordWrite();
      const works = entries.map(({ work }) => work);
      const ofAll = first.caller.apart();
      ofAll.span = first.caller.span;
      try {
        const results = await doTogether(ofAll, works);
        endWaits(entries);
        return entries.forEach(({ grant }, index) => grant(results[index]));
      } catch (error) {
        // What a lost COMMIT has done isn't known here, so nothing is done again.
        if (isLoss(error) || isReadOnly(error)) {
          endWaits(entries);
          return entries.forEach(({ caller, refuse }) => refuse(recordFailure(error, caller)));
        }
      }
    }
    endWaits(entries);
    await Promise.all(entries.map(({ caller, work, grant, refuse }) => doAlone(caller, work).then(grant, refuse)));
  }
}

function endWaits(entries: readonly { readonly caller: Caller }[]): void {
  for (const { caller } of entries) caller.endWait();
}
