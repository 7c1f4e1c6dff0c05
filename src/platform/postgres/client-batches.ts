import type { Caller } from '../callers/index.ts';
import { inBackground } from '../background.ts';
import { isLoss, isReadOnly, recordFailure, throwIfLost } from './driver-errors.ts';

/** An entry: work of one caller. */
interface Entry<Work, Result> {
  readonly caller: Caller;
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** A client with entries that wait, or batches under way. */
interface Client<Work, Result> {
  readonly id: string;
  readonly waiting: Entry<Work, Result>[];
  underWay: number;
}

export interface BatchOptions<Work, Result> {
  readonly maxEntries: number;
  readonly doAlone: (caller: Caller, work: Work) => Promise<Result>;
  /**
   * Does all of them or, when it rejects, none, unless the database is lost: then each is done alone. So what is found
   * once they may be committed is no rejection, but a result. It has a caller of its own: that of one work can't end
   * all. It must soon fail where it waits: that may be because of one work.
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
 * Model: while two batches of a client are under way, its further entries wait, and the next batch has them all. What
 * comes in one tick of the event loop is in one batch.
 * Guarantees: entries of different clients are never in one batch; no entry waits longer than 200 ms for earlier
 * batches; one without others at its time is done alone; one whose client has disconnected before is not done.
 * Failure: a lost or read-only database fails all entries of a batch, of which all or none have been done; after any
 * other failure, a time-out or a wait for a connection among them, each is done alone, so that none waits or fails
 * because of another.
 */
export class ClientBatches<Work, Result> {
  readonly #options: BatchOptions<Work, Result>;
  readonly #clients = new Map<string, Client<Work, Result>>();

  constructor(options: BatchOptions<Work, Result>) {
    this.#options = options;
  }

  async add(caller: Caller, work: Work): Promise<Result> {
    throwIfLost(caller);
    const client = this.#clients.get(caller.id) ?? { id: caller.id, waiting: [], underWay: 0 };
    this.#clients.set(caller.id, client);
    return new Promise((resolve, reject) => {
      caller.beginWait();
      if (client.waiting.push({ caller, work, resolve, reject }) === 1) this.#beginNext(client);
    });
  }

  /** Begins a batch of those that wait, if any, when the client may have one more. */
  #beginNext(client: Client<Work, Result>): void {
    if (client.waiting.length === 0 || client.underWay >= maxUnderWay) return;
    client.underWay += 1;
    setImmediate(() => inBackground(this.#doNext(client)));
  }

  async #doNext(client: Client<Work, Result>): Promise<void> {
    const batch = client.waiting.splice(0, this.#options.maxEntries);
    this.#beginNext(client);
    let isUnderWay = true;
    const end = (): void => {
      if (!isUnderWay) return;
      isUnderWay = false;
      clearTimeout(timeout);
      client.underWay -= 1;
      this.#beginNext(client);
      if (client.underWay === 0) this.#clients.delete(client.id);
    };
    const timeout = setTimeout(end, maxUnderWayMillis).unref();
    try {
      await this.#do(batch);
    } finally {
      end();
    }
  }

  async #do(batch: readonly Entry<Work, Result>[]): Promise<void> {
    const { doAlone, doTogether } = this.#options;
    const { ended = [], entries = [] } = Object.groupBy(batch, ({ caller }) =>
      caller.failure === undefined ? 'entries' : 'ended',
    );
    endWaits(ended);
    for (const { caller, reject } of ended) reject(caller.failure);
    const [first, ...others] = entries;
    if (first !== undefined && others.length > 0) {
      for (const { caller } of entries) caller.recordWrite();
      const works = entries.map(({ work }) => work);
      const ofAll = first.caller.apart();
      ofAll.span = first.caller.span;
      try {
        const results = await doTogether(ofAll, works);
        endWaits(entries);
        return entries.forEach(({ resolve }, index) => resolve(results[index] as Result));
      } catch (error) {
        // The outcome of a lost COMMIT isn't known here, so nothing is done again.
        if (isLoss(error) || isReadOnly(error)) {
          endWaits(entries);
          return entries.forEach(({ caller, reject }) => reject(recordFailure(error, caller)));
        }
      }
    }
    endWaits(entries);
    await Promise.all(entries.map(({ caller, work, resolve, reject }) => doAlone(caller, work).then(resolve, reject)));
  }
}

function endWaits(entries: readonly { readonly caller: Caller }[]): void {
  for (const { caller } of entries) caller.endWait();
}
