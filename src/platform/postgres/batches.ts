import { type Caller, type Callers, service } from '../callers/index.ts';
import { inBackground } from '../background.ts';
import { LruMap } from '../lru-map.ts';
import { isLoss, isReadOnly, recordFailure, throwIfLost } from './driver-errors.ts';

/** An entry: work of one caller. */
interface Entry<Work, Result> {
  readonly caller: Caller;
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Clients whose entries may be in one batch: all that aren't kept apart, or one. */
interface Group<Work, Result> {
  /** That of the client which is kept apart, or of the service. */
  readonly id: string;
  /** By client: the one that was served last comes last. */
  readonly waiting: Map<string, Entry<Work, Result>[]>;
  underWay: number;
}

export interface BatchOptions<Work, Result> {
  readonly callers: Callers;
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

/** For how long a client is kept apart. */
const apartMillis = 10_000;

/** An entry that takes longer by itself, after its batch has failed, is what the batch has waited for. */
const slowMillis = 100;

/** Of those that are kept apart. */
const maxKeptApart = 1_000;

/**
 * Gathers what comes at the same time, to be done together.
 *
 * Model: while two batches are under way, further entries wait, and the next batch has them all, one of each client in
 * turn. What comes in one tick of the event loop is in one batch. A client because of which a batch has failed is kept
 * apart for ten seconds: its entries are in batches of their own.
 * Guarantees: no entry waits longer than 200 ms for earlier batches; one without others at its time is done alone; one
 * whose client has disconnected before is not done.
 * Failure: a lost or read-only database fails all entries of a batch, of which all or none have been done; after any
 * other failure, a time-out or a wait for a connection among them, each is done alone, so that none fails because of
 * another.
 */
export class Batches<Work, Result> {
  readonly #options: BatchOptions<Work, Result>;
  readonly #groups = new Map<string, Group<Work, Result>>();
  /** Until when, by client. */
  readonly #apart = new LruMap<string, number>(maxKeptApart);

  constructor(options: BatchOptions<Work, Result>) {
    this.#options = options;
  }

  async add(caller: Caller, work: Work): Promise<Result> {
    throwIfLost(caller);
    const id = this.#isApart(caller.id) ? caller.id : service;
    const group: Group<Work, Result> = this.#groups.get(id) ?? { id, waiting: new Map(), underWay: 0 };
    this.#groups.set(id, group);
    return new Promise((resolve, reject) => {
      caller.beginWait();
      const isFirst = group.waiting.size === 0;
      const ofClient = group.waiting.get(caller.id) ?? [];
      ofClient.push({ caller, work, resolve, reject });
      group.waiting.set(caller.id, ofClient);
      if (isFirst) this.#beginNext(group);
    });
  }

  /** Its entries would let others be done twice. */
  #keepApart(clientId: string): void {
    if (clientId !== service) this.#apart.set(clientId, performance.now() + apartMillis);
  }

  #isApart(clientId: string): boolean {
    const until = this.#apart.get(clientId);
    return until !== undefined && performance.now() < until;
  }

  /** Begins a batch of those that wait, if any, when the group may have one more. */
  #beginNext(group: Group<Work, Result>): void {
    if (group.waiting.size === 0 || group.underWay >= maxUnderWay) return;
    group.underWay += 1;
    setImmediate(() => inBackground(this.#doNext(group)));
  }

  async #doNext(group: Group<Work, Result>): Promise<void> {
    const batch = this.#take(group);
    this.#beginNext(group);
    let isUnderWay = true;
    const end = (): void => {
      if (!isUnderWay) return;
      isUnderWay = false;
      clearTimeout(timeout);
      group.underWay -= 1;
      this.#beginNext(group);
      if (group.underWay === 0) this.#groups.delete(group.id);
    };
    const timeout = setTimeout(end, maxUnderWayMillis).unref();
    try {
      await this.#do(group, batch);
    } finally {
      end();
    }
  }

  #take({ waiting }: Group<Work, Result>): Entry<Work, Result>[] {
    const batch: Entry<Work, Result>[] = [];
    // A client that is set again comes again, after the others.
    for (const [clientId, ofClient] of waiting) {
      batch.push(...ofClient.splice(0, 1));
      waiting.delete(clientId);
      if (ofClient.length > 0) waiting.set(clientId, ofClient);
      if (batch.length === this.#options.maxEntries) break;
    }
    return batch;
  }

  async #do(group: Group<Work, Result>, batch: readonly Entry<Work, Result>[]): Promise<void> {
    const { doTogether } = this.#options;
    const { ended = [], entries = [] } = Object.groupBy(batch, ({ caller }) =>
      caller.failure === undefined ? 'entries' : 'ended',
    );
    endWaits(ended);
    for (const { caller, reject } of ended) reject(caller.failure);
    const [first, ...others] = entries;
    const begunAt = performance.now();
    if (first !== undefined && others.length > 0) {
      for (const { caller } of entries) caller.recordWrite();
      const works = entries.map(({ work }) => work);
      try {
        const results = await doTogether(this.#callerOf(group, first.caller), works);
        endWaits(entries);
        const usedMillis = performance.now() - begunAt;
        // That of a client which is kept apart counts with its connection.
        if (group.id === service) for (const { caller } of entries) caller.use(usedMillis / entries.length);
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
    await Promise.all(entries.map((entry) => this.#doAlone(entry, others.length > 0)));
  }

  /** Perhaps after its batch has failed, maybe because of it. */
  async #doAlone({ caller, work, resolve, reject }: Entry<Work, Result>, hasFailed: boolean): Promise<void> {
    const begunAt = performance.now();
    let isCause = true;
    try {
      resolve(await this.#options.doAlone(caller, work));
      isCause = performance.now() - begunAt > slowMillis;
    } catch (error) {
      reject(error);
    }
    if (hasFailed && isCause) this.#keepApart(caller.id);
  }

  /** Nobody whose work is in the batch can end it. */
  #callerOf({ id }: Group<Work, Result>, first: Caller): Caller {
    const caller = id === service ? this.#options.callers.service('batches') : first.apart();
    caller.span = first.span;
    return caller;
  }
}

function endWaits(entries: readonly { readonly caller: Caller }[]): void {
  for (const { caller } of entries) caller.endWait();
}
