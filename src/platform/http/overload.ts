import type { IncomingMessage } from 'node:http';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

import { type Accounts, Share } from '../callers/index.ts';
import type { OnRefusal } from './bounds.ts';
import type { ClientConnections } from './connections.ts';
import { Refusal } from './refusal.ts';
import { partOf, type WaitingRequests } from './waiting-requests.ts';

/** The limits beyond which requests are refused. Tests lower them. */
export interface OverloadLimits {
  readonly maxDelayMillis: number;
  /** Requests that have arrived and have no response yet; those that wait for the database are among them. */
  readonly maxWaiting: number;
}

export const defaultOverloadLimits: OverloadLimits = { maxDelayMillis: 500, maxWaiting: 1_000 };

export interface OverloadOptions {
  readonly accounts: Accounts;
  readonly connections: Pick<ClientConnections, 'underWay' | 'countArrived'>;
  readonly waitingRequests: Pick<WaitingRequests, 'total' | 'contest'>;
  /** Who has sent a request, as far as that is known before it begins. */
  readonly clientOf: (request: IncomingMessage) => string;
  readonly onRefusal: OnRefusal;
  readonly limits: OverloadLimits;
}

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
 *
 * Two counts of requests are compared with `maxWaiting`. While so many have begun their work, every further one is
 * refused. While so many have arrived, admitted or not, a further one is refused when its client has its part already.
 */
export class Overload {
  readonly #limits: OverloadLimits;
  readonly #connections: Pick<ClientConnections, 'underWay' | 'countArrived'>;
  readonly #waitingRequests: Pick<WaitingRequests, 'total' | 'contest'>;
  readonly #clientOf: (request: IncomingMessage) => string;
  /** The requests that have arrived completely and have no response yet, as last counted. */
  readonly #arrived: Share;
  readonly #onRefusal: OnRefusal;
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMillis });
  readonly #sampling: NodeJS.Timeout;
  #delayMillis = 0;
  #lastMillis = 0;
  #countedAt = -Infinity;

  constructor({ accounts, connections, waitingRequests, clientOf, onRefusal, limits }: OverloadOptions) {
    this.#limits = limits;
    this.#connections = connections;
    this.#waitingRequests = waitingRequests;
    this.#clientOf = clientOf;
    this.#arrived = new Share(accounts, {
      ofClient: (clients) => partOf(limits.maxWaiting, clients),
      ofAll: Infinity,
      refuse: () => this.#refuse(),
    });
    this.#onRefusal = onRefusal;
    this.#histogram.enable();
    this.#sampling = setInterval(() => this.#sample(), sampleEveryMillis).unref();
  }

  /** The failure for a request that has to be refused. */
  findRefusal(request: IncomingMessage): Error | undefined {
    if (this.#waitingRequests.total >= this.#limits.maxWaiting) {
      this.#waitingRequests.contest();
      return this.#refuse();
    }
    if (this.#delayMillis > this.#limits.maxDelayMillis) return this.#refuse();
    if (this.#countArrived() < this.#limits.maxWaiting) return undefined;
    this.#waitingRequests.contest();
    return this.#arrived.findRefusal(this.#clientOf(request), 1);
  }

  stop(): void {
    clearInterval(this.#sampling);
    this.#histogram.disable();
  }

  #refuse(): Refusal {
    this.#onRefusal('overload');
    return new Refusal('UNAVAILABLE', 'The service has too much to do at the moment. Try again in a second.', {
      retryAfterSeconds,
    });
  }

  #sample(): void {
    const { mean, count } = this.#histogram;
    const millis = count === 0 ? this.#lastMillis : mean / 1e6 - resolutionMillis;
    this.#delayMillis = Math.min(millis, this.#lastMillis);
    this.#lastMillis = millis;
    this.#histogram.reset();
  }

  /**
   * Counts the requests that have arrived, when there are enough under way to matter; 0 before. Those whose clients
   * don't read the response are no work, and aren't counted.
   */
  #countArrived(): number {
    if (this.#connections.underWay <= this.#limits.maxWaiting) return 0;
    const now = performance.now();
    if (now - this.#countedAt >= countEveryMillis) {
      this.#countedAt = now;
      this.#connections.countArrived(this.#arrived);
    }
    return this.#arrived.held;
  }
}
