import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

import type { OnRefusal } from './bounds.ts';
import type { ClientConnections } from './connections.ts';
import { HttpError } from '../error-table.ts';
import type { WaitingRequests } from './waiting-requests.ts';

/** The limits beyond which requests are refused. Tests lower them. */
export interface OverloadLimits {
  readonly maxDelayMillis: number;
  /** Requests that have arrived and have no response yet; those that wait for the database are among them. */
  readonly maxWaiting: number;
}

export const defaultOverloadLimits: OverloadLimits = { maxDelayMillis: 500, maxWaiting: 1_000 };

const resolutionMillis = 10;
const sampleEveryMillis = 500;

/** How long a count over all connections is cached. */
const countEveryMillis = 20;

const retryAfterSeconds = 1;

/**
 * Decides whether the process is overloaded.
 *
 * The event loop's delay is a mean over half a second, the lower one of the last two, so that one long pause alone
 * refuses no request; requests are admitted again half a second after the loop runs freely.
 */
export class Overload {
  readonly #limits: OverloadLimits;
  readonly #connections: Pick<ClientConnections, 'underWay' | 'countWaiting'>;
  readonly #waitingRequests: Pick<WaitingRequests, 'total' | 'contest'>;
  readonly #onRefusal: OnRefusal;
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMillis });
  readonly #sampling: NodeJS.Timeout;
  #delayMillis = 0;
  #lastMillis = 0;
  #waiting = 0;
  #countedAt = -Infinity;

  constructor(
    connections: Pick<ClientConnections, 'underWay' | 'countWaiting'>,
    waitingRequests: Pick<WaitingRequests, 'total' | 'contest'>,
    onRefusal: OnRefusal,
    limits: OverloadLimits,
  ) {
    this.#limits = limits;
    this.#connections = connections;
    this.#waitingRequests = waitingRequests;
    this.#onRefusal = onRefusal;
    this.#histogram.enable();
    this.#sampling = setInterval(() => this.#sample(), sampleEveryMillis).unref();
  }

  /** The failure for a request that has to be refused. */
  findRefusal(): HttpError | undefined {
    const hasTooManyWaiting = this.#hasTooManyWaiting();
    if (hasTooManyWaiting) this.#waitingRequests.contest();
    else if (this.#delayMillis <= this.#limits.maxDelayMillis) return undefined;
    this.#onRefusal('overload');
    return new HttpError('UNAVAILABLE', 'The service has too much to do at the moment. Try again in a second.', {
      retryAfterSeconds,
    });
  }

  stop(): void {
    clearInterval(this.#sampling);
    this.#histogram.disable();
  }

  #sample(): void {
    const { mean, count } = this.#histogram;
    const millis = count === 0 ? this.#lastMillis : mean / 1e6 - resolutionMillis;
    this.#delayMillis = Math.min(millis, this.#lastMillis);
    this.#lastMillis = millis;
    this.#histogram.reset();
  }

  #hasTooManyWaiting(): boolean {
    if (this.#waitingRequests.total >= this.#limits.maxWaiting) return true;
    // Requests whose clients don't read the response are no work: they are excluded, but only counted when there are
    // enough of them to matter.
    if (this.#connections.underWay <= this.#limits.maxWaiting) return false;
    const now = performance.now();
    if (now - this.#countedAt >= countEveryMillis) {
      this.#countedAt = now;
      this.#waiting = this.#connections.countWaiting();
    }
    return this.#waiting >= this.#limits.maxWaiting;
  }
}
