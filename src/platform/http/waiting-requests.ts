import { performance } from 'node:perf_hooks';

import type { FastifyRequest } from 'fastify';

import { type Accounts, byteMillis, type Lease, requestMillis, Share } from '../callers/index.ts';
import type { OnRefusal } from './bounds.ts';
import { Refusal } from './refusal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** While it is one of the waiting requests. */
    waiting: Lease | undefined;
  }
}

/** The requests of one key that may always wait, however many keys there are. */
const minShare = 16;

/** What a client has at most of `max` requests that wait while others need room, too. */
export function partOf(max: number, clients: number): number {
  return Math.floor(max / 2 / clients);
}

/** How long keys keep to their shares after the last sign that others need room. */
const contestedMillis = 60_000;

const retryAfterSeconds = 1;

/**
 * The authenticated requests without a response, by key. Those whose clients have disconnected are among them until
 * their work ends.
 *
 * Model: all of them together may be `maxWaiting`; beyond that every request is refused (see `Overload`). So that one
 * key can't bring this about for the others, no key has more than its share: half of the maximum, divided by the keys
 * that have waiting requests.
 * Guarantee: keys that keep to their shares leave room for others. A key that is alone may use the whole maximum.
 * Shares apply for a minute after another key was seen beside more than a quarter of the maximum, or a request was
 * refused.
 */
export class WaitingRequests {
  readonly #max: number;
  readonly #share: Share;
  #contestedUntil = -Infinity;

  constructor(accounts: Accounts, maxWaiting: number, onRefusal: OnRefusal) {
    this.#max = maxWaiting;
    this.#share = new Share(accounts, {
      ofClient: (keys) => this.#partOf(keys),
      ofAll: Infinity,
      refuse: (_refusal, held) => {
        this.contest();
        onRefusal('waiting_requests');
        const message = `${held} requests of this key wait for a response already, and other keys need room: let some of them finish first.`;
        return new Refusal('UNAVAILABLE', message, { retryAfterSeconds });
      },
    });
  }

  get total(): number {
    return this.#share.held;
  }

  /** Counts the request until `end`. Throws UNAVAILABLE while its key has its share. */
  begin(request: FastifyRequest): void {
    request.waiting = this.#share.takeNow(request.caller.id);
  }

  /** It has its response, of so many bytes. Without effect on a request that isn't counted. */
  end(request: FastifyRequest, bytes = 0): void {
    request.waiting?.release(requestMillis + bytes * byteMillis);
    request.waiting = undefined;
  }

  /** Other keys need room: from now on each keeps to its share. */
  contest(): void {
    this.#contestedUntil = performance.now() + contestedMillis;
  }

  #partOf(keys: number): number {
    if (this.total <= this.#max / 4) return Infinity;
    if (keys > 1) this.contest();
    else if (performance.now() >= this.#contestedUntil) return Infinity;
    return Math.max(minShare, partOf(this.#max, keys));
  }
}
