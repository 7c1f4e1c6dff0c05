import type { IncomingMessage } from 'node:http';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

import type { FastifyRequest } from 'fastify';

import { byteMillis, requestMillis, Share } from '../callers/index.ts';
import { every } from '../background.ts';
import type { BoundsOptions } from './limits.ts';
import type { ClientConnections } from './connections.ts';
import { Refusal } from './refusal.ts';

const resolutionMillis = 10;
const sampleEveryMillis = 500;

/** How long a count over all connections is cached. */
const countEveryMillis = 20;

/** The requests of one key that may always wait, however many keys there are. */
const minShare = 16;

/** How long keys keep to their shares after the last sign that others need room. */
const sharingMillis = 60_000;

const retryAfterSeconds = 1;
const tooMuch = 'The service has too much to do at the moment. Try again in a second.';

/**
 * Decides whether the process is overloaded, and which client has to wait for the others.
 *
 * The event loop's delay is a mean over half a second, the lower one of the last two, so that one long pause alone
 * refuses no request; requests are admitted again half a second after the loop runs freely.
 *
 * Two counts of requests without a response are compared with `maxWaiting`. While so many have begun their work, every
 * further one is refused; those whose clients have disconnected are among them until their work ends. While so many
 * have been received, begun or not, a further one is refused when its client has its share already: half of the
 * maximum, divided by the clients.
 *
 * So that one key alone can't fill the first count, no key begins more than its share, either, for a minute after
 * another key was seen beside more than a quarter of the maximum, or a request was refused. A key that is alone may
 * use the whole maximum.
 */
export class Overload {
  readonly #options: BoundsOptions;
  readonly #connections: ClientConnections;
  /** By key. */
  readonly #begun: Share;
  /** The requests that have been received completely, as last counted. */
  readonly #received: Share;
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMillis });
  readonly #sampling: NodeJS.Timeout;
  #delayMillis = 0;
  #lastMillis = 0;
  #countedAt = -Infinity;
  #sharesUntil = -Infinity;

  constructor(options: BoundsOptions, connections: ClientConnections) {
    const { accounts } = options.callers;
    this.#options = options;
    this.#connections = connections;
    this.#begun = new Share(accounts, {
      ofClient: (keys) => this.#shareOfKey(keys),
      ofAll: Infinity,
      refuse: (_limit, held) => this.#refuseKey(held),
    });
    this.#received = new Share(accounts, {
      ofClient: (clients) => this.#shareOf(clients),
      ofAll: Infinity,
      refuse: () => this.#refuse(),
    });
    this.#histogram.enable();
    this.#sampling = every(sampleEveryMillis, () => this.#sample());
  }

  /** The requests that have begun and have no response. */
  get waiting(): number {
    return this.#begun.held;
  }

  /** The failure for a request that has to be refused before anything is done for it. */
  findRefusal(request: IncomingMessage): Error | undefined {
    const { maxWaiting, maxDelayMillis } = this.#options.limits;
    if (this.waiting >= maxWaiting) {
      this.#keepToShares();
      return this.#refuse();
    }
    if (this.#delayMillis > maxDelayMillis) return this.#refuse();
    if (this.#countReceived() < maxWaiting) return undefined;
    this.#keepToShares();
    return this.#received.findRefusal(this.#options.callerOf(request), 1);
  }

  /** Counts the request of a known key until `end`. Throws UNAVAILABLE while its key has its share. */
  begin(request: FastifyRequest): void {
    request.waiting = this.#begun.takeNow(request.caller);
  }

  /** The request has its response, of so many bytes. Without effect on a request that hasn't begun. */
  end(request: FastifyRequest, bytes = 0): void {
    request.waiting?.release(requestMillis + bytes * byteMillis);
    request.waiting = undefined;
  }

  stop(): void {
    clearInterval(this.#sampling);
    this.#histogram.disable();
  }

  #shareOf(clients: number): number {
    return Math.floor(this.#options.limits.maxWaiting / 2 / clients);
  }

  #shareOfKey(keys: number): number {
    if (this.waiting <= this.#options.limits.maxWaiting / 4) return Infinity;
    if (keys > 1) this.#keepToShares();
    else if (performance.now() >= this.#sharesUntil) return Infinity;
    return Math.max(minShare, this.#shareOf(keys));
  }

  /** Other keys need room: from now on each keeps to its share. */
  #keepToShares(): void {
    this.#sharesUntil = performance.now() + sharingMillis;
  }

  #refuseKey(held: number): Refusal {
    this.#keepToShares();
    const message = `${held} requests of this key wait for a response already, and other keys need room: let some of them finish first.`;
    return this.#refuse('waiting_requests', message);
  }

  #refuse(bound: 'overload' | 'waiting_requests' = 'overload', message = tooMuch): Refusal {
    this.#options.onRefusal(bound);
    return new Refusal('UNAVAILABLE', message, { retryAfterSeconds });
  }

  #sample(): void {
    const { mean, count } = this.#histogram;
    const millis = count === 0 ? this.#lastMillis : mean / 1e6 - resolutionMillis;
    this.#delayMillis = Math.min(millis, this.#lastMillis);
    this.#lastMillis = millis;
    this.#histogram.reset();
  }

  /**
   * Counts the requests that have been received, when there are enough under way to matter; 0 before. Those whose
   * clients don't read the response are no work, and aren't counted.
   */
  #countReceived(): number {
    if (this.#connections.underWay <= this.#options.limits.maxWaiting) return 0;
    const now = performance.now();
    if (now - this.#countedAt >= countEveryMillis) {
      this.#countedAt = now;
      this.#connections.countReceived(this.#received);
    }
    return this.#received.held;
  }
}
