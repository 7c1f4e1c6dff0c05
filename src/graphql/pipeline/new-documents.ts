import { performance } from 'node:perf_hooks';

import { type Accounts, type Caller, Share } from '../../platform/callers/index.ts';
import type { OnRefusal } from '../../http/observe/bounds.ts';
import { HttpError } from '../../http/error-table.ts';

const waitMillis = 2_000;
const retryAfterSeconds = 1;

/**
 * Parses, validates and prepares new documents one after another: one in a tick of the event loop, in which other
 * requests go on.
 *
 * No other work that a short request can cause is as expensive. Requests that wait are served by client, the one first
 * that has used least.
 */
export class NewDocuments {
  readonly #share: Share;

  constructor(accounts: Accounts, onRefusal: OnRefusal) {
    this.#share = new Share(accounts, {
      ofClient: 1,
      ofAll: 1,
      waitMillis,
      refuse: () => {
        onRefusal('documents');
        const message = 'Too many new documents wait to be validated. Try again in a second.';
        return new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
      },
    });
  }

  /** Throws UNAVAILABLE after two seconds. `recheck` may throw after a wait, in which quota may have been spent. */
  async run<Result>(caller: Caller, recheck: () => Promise<void>, work: () => Promise<Result>): Promise<Result> {
    const isFree = this.#share.held === 0;
    const lease = await this.#share.take(caller);
    try {
      if (!isFree) await recheck();
      return await measured(caller, work);
    } finally {
      setImmediate(() => lease.release());
    }
  }
}

async function measured<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  try {
    return await work();
  } finally {
    caller.use(performance.now() - startedAt);
  }
}
