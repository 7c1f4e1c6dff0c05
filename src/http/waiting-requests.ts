import { performance } from 'node:perf_hooks';

import type { FastifyRequest } from 'fastify';

import type { OnRefusal } from './bounds.ts';
import { HttpError } from './error-table.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** It is counted among the waiting requests. */
    isWaiting: boolean;
  }
}

/** The requests of one key that may always wait, however many keys there are. */
const minShare = 16;

/** How long keys keep to their shares after the last sign that others need room. */
const contestedMillis = 60_000;

const retryAfterSeconds = 1;

/**
 * The authenticated requests without a response, by key. Those whose clients have disconnected are among them until their work ends.
 *
 * Model: all of them together may be `maxWaiting`; beyond that every request is refused (see `Overload`). So that one key
 * can't bring this about for the others, no key has more than its share: half of the maximum, divided by the keys that have waiting
 * requests. Guarantee: keys that keep to their shares leave room for others. A key that is alone may use the whole maximum. Shares apply for a minute after another
 * key was seen beside more than a quarter of the maximum, or a request was refused.
 */
export class WaitingRequests {
  readonly #max: number;
  readonly #onRefusal: OnRefusal;
  readonly #ofKeys = new Map<string, number>();
  #total = 0;
  #contestedUntil = -Infinity;

  constructor(maxWaiting: number, onRefusal: OnRefusal) {
    this.#max = maxWaiting;
    this.#onRefusal = onRefusal;
  }

  get total(): number {
    return this.#total;
  }

  /** Counts the request until `end`. Throws UNAVAILABLE while its key has its share. */
  begin(request: FastifyRequest): void {
    const { id } = request.principal;
    const ofKey = this.#ofKeys.get(id) ?? 0;
    if (this.#total > this.#max / 4) this.#requireShare(ofKey);
    this.#ofKeys.set(id, ofKey + 1);
    this.#total += 1;
    request.isWaiting = true;
  }

  /** It has its response. Without effect on a request that isn't counted. */
  end(request: FastifyRequest): void {
    if (!request.isWaiting) return;
    request.isWaiting = false;
    const { id } = request.principal;
    const left = (this.#ofKeys.get(id) ?? 0) - 1;
    if (left > 0) this.#ofKeys.set(id, left);
    else this.#ofKeys.delete(id);
    this.#total -= 1;
  }

  /** Other keys need room: from now on each keeps to its share. */
  contest(): void {
    this.#contestedUntil = performance.now() + contestedMillis;
  }

  #requireShare(ofKey: number): void {
    const keys = this.#ofKeys.size + (ofKey === 0 ? 1 : 0);
    if (keys > 1) this.contest();
    else if (performance.now() >= this.#contestedUntil) return;
    if (ofKey < Math.max(minShare, Math.floor(this.#max / 2 / keys))) return;
    this.contest();
    this.#onRefusal('waiting_requests');
    throw new HttpError(
      'UNAVAILABLE',
      `${ofKey} requests of this key wait for a response already, and other keys need room: let some of them finish first.`,
      { retryAfterSeconds },
    );
  }
}
