import { setImmediate as nextTick } from 'node:timers/promises';

import { runAs } from '../domain/access/current-request.ts';

interface Batch<Entry> {
  readonly entries: Entry[];
  sent: Promise<void>;
}

/** The batches of one client. */
interface Queue<Entry> {
  underWay: number;
  /** Batches that wait for an earlier one to end, in their order: the call starts one. */
  readonly waiting: Set<() => void>;
  /** The batch that takes more entries. */
  gathering: Batch<Entry> | undefined;
}

/** Enough for one to be sent while another is written to disk. */
const maxUnderWay = 2;

/** Together with the waits for a connection and for the response less than 5 seconds. */
const maxWaitMillis = 400;

/**
 * Gathers what comes at the same time from one client (a key), to be sent together.
 *
 * Model: while two batches of a client are under way, its further entries gather, and the next batch has them all.
 * Guarantees: entries of different clients are never in one batch; no entry waits longer than 400 ms for earlier
 * batches.
 */
export class ClientBatches<Entry> {
  readonly #maxEntries: number;
  readonly #send: (entries: readonly Entry[]) => Promise<void>;
  readonly #queues = new Map<string, Queue<Entry>>();

  /** A batch is sent in a context of its own: the client of one entry can't end that of all. */
  constructor(maxEntries: number, send: (entries: readonly Entry[]) => Promise<void>) {
    this.#maxEntries = maxEntries;
    this.#send = send;
  }

  /** Resolves or rejects as the batch of the entry does. */
  async add(subject: string, entry: Entry): Promise<void> {
    const batch = this.#batchOf(subject);
    batch.entries.push(entry);
    await batch.sent;
  }

  #batchOf(subject: string): Batch<Entry> {
    let queue = this.#queues.get(subject);
    if (queue === undefined)
      this.#queues.set(subject, (queue = { underWay: 0, waiting: new Set(), gathering: undefined }));
    if (queue.gathering !== undefined && queue.gathering.entries.length < this.#maxEntries) return queue.gathering;
    const batch: Batch<Entry> = { entries: [], sent: Promise.resolve() };
    queue.gathering = batch;
    batch.sent = runAs(subject, () => this.#run(batch, queue, subject));
    return batch;
  }

  async #run(batch: Batch<Entry>, queue: Queue<Entry>, subject: string): Promise<void> {
    if (queue.underWay >= maxUnderWay) await waitForEarlier(queue);
    queue.underWay += 1;
    // What arrives in this tick of the event loop is in the same batch.
    await nextTick();
    if (queue.gathering === batch) queue.gathering = undefined;
    try {
      await this.#send(batch.entries);
    } finally {
      queue.underWay -= 1;
      const [next] = queue.waiting;
      next?.();
      if (next === undefined && queue.underWay === 0 && queue.gathering === undefined) this.#queues.delete(subject);
    }
  }
}

function waitForEarlier({ waiting }: Pick<Queue<unknown>, 'waiting'>): Promise<void> {
  return new Promise((resolve) => {
    const begin = (): void => {
      clearTimeout(timeout);
      waiting.delete(begin);
      resolve();
    };
    const timeout = setTimeout(begin, maxWaitMillis);
    waiting.add(begin);
  });
}
