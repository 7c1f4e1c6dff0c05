import { type Account, type Accounts, service, type Waiter } from '../account/accounts.ts';
import { Waiters } from '../account/waiters.ts';
import { inBackground } from '../background.ts';
import {
  contextOfNow,
  currentRequest,
  type RequestContext,
  runAs,
  type Runner,
} from '../domain/access/current-request.ts';
import { isUnavailable } from '../domain/errors.ts';
import { isOfStatement, recordFailure, throwIfLost } from '../postgres/driver-errors.ts';

/** What one request of a client wants to have done. */
interface BatchEntry<Work> {
  readonly work: Work;
  /** Runs a function as a part of that request. */
  readonly inRequest: Runner;
}

interface WaitingEntry<Work, Result> extends Waiter, BatchEntry<Work> {
  readonly request: RequestContext | undefined;
  readonly grant: (result?: Result) => void;
}

export interface BatchOptions<Work, Result> {
  readonly accounts: Accounts;
  readonly maxEntries: number;
  readonly doAlone: (work: Work) => Promise<Result>;
  /**
   * Does all of them or, when it rejects, none: then each is done alone. It runs in a context of its own: the client of
   * one entry can't end that of all. It must not wait long: it may be one entry that waits.
   */
  readonly doTogether: (entries: readonly BatchEntry<Work>[]) => Promise<readonly Result[]>;
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
 * Failure: a lost database fails all entries of a batch, of which all or none have been done; after any other failure,
 * a time-out among them, each is done alone, so that none waits or fails because of another.
 */
export class ClientBatches<Work, Result> {
  readonly #options: BatchOptions<Work, Result>;
  readonly #waiters: Waiters;

  constructor(options: BatchOptions<Work, Result>) {
    this.#options = options;
    this.#waiters = new Waiters(options.accounts);
  }

  async add(work: Work): Promise<Result> {
    const request = currentRequest();
    throwIfLost(request);
    const account = this.#options.accounts.entered(request?.clientId ?? service);
    const isFirst = this.#waitingOf(account).length === 0;
    return new Promise((resolve, refuse) => {
      const entry: WaitingEntry<Work, Result> = {
        account,
        amount: 1,
        work,
        request,
        inRequest: contextOfNow(),
        grant: (result) => resolve(result as Result),
        refuse,
      };
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
    setImmediate(() => inBackground(first.inRequest(() => this.#doNext(account))));
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
      await runAs(account.id, () => this.#do(batch));
    } finally {
      end();
    }
  }

  async #do(batch: readonly WaitingEntry<Work, Result>[]): Promise<void> {
    const { doAlone, doTogether } = this.#options;
    const entries = batch.filter(({ request, refuse }) => {
      if (request?.failure !== undefined) refuse(request.failure);
      return request?.failure === undefined;
    });
    if (entries.length > 1) {
      for (const { request } of entries) request?.recordWrite();
      try {
        const results = await doTogether(entries);
        for (const [index, { grant }] of entries.entries()) grant(results[index]);
        return;
      } catch (error) {
        // What a lost COMMIT has done isn't known here, so nothing is done again.
        if (isUnavailable(error) && !isOfStatement(error)) {
          for (const { request, refuse } of entries) refuse(recordFailure(error, request));
          return;
        }
      }
    }
    const alone = entries.map(({ work, inRequest, grant, refuse }) =>
      inRequest(() => doAlone(work)).then(grant, refuse),
    );
    await Promise.all(alone);
  }
}
