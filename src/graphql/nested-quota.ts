import type { GraphQLResolveInfo } from 'graphql';
import { getGraphQLRateLimiter } from 'graphql-rate-limit';

import type { Principal } from '../domain/access/principal.ts';
import { LruMap } from '../platform/lru-map.ts';
import { HttpError } from '../http/error-table.ts';

const windowMillis = 60_000;
/** A full page of parents for each request of the plan. */
const parentsPerRequest = 100;
/** So many of the last used ones are remembered, or twice as many. */
const maxWindows = 10_000;

/** Limits how many parents per minute a key may load each nested connection for. Each process counts separately. */
export class NestedQuota {
  readonly #now: () => number;
  /** By the key and the field. */
  readonly #windows = new LruMap<string, { readonly closesAt: number; parents: number }>(maxWindows);
  /**
   * Its own stores keep a timestamp for every call, here for every parent. This one keeps a sum, and the limiter gets
   * what is left as its maximum.
   */
  readonly #limiter = getGraphQLRateLimiter({
    identifyContext: (name: string) => name,
    store: {
      getForIdentity: () => [],
      setForIdentity: ({ contextIdentity: name }, calls) => {
        this.#windowOf(name).parents += calls.length;
      },
    },
  });
  /** The limiter reads and writes its store in two steps, which must not interleave. */
  #lastDecision: Promise<unknown> = Promise.resolve();

  constructor(now = (): number => performance.now()) {
    this.#now = now;
  }

  /** Counts the parents of one batch of a nested connection; returns the reason for a refusal, or undefined. */
  count(
    { id, limits }: Pick<Principal, 'id' | 'limits'>,
    field: string,
    parents: number,
  ): Promise<HttpError | undefined> {
    const limit = limits.requestsPerMinute * parentsPerRequest;
    const decision = this.#lastDecision.then(() => this.#decide(`${id} ${field}`, field, parents, limit));
    this.#lastDecision = decision;
    return decision;
  }

  async #decide(name: string, field: string, parents: number, limit: number): Promise<HttpError | undefined> {
    const window = this.#windowOf(name);
    const max = limit - window.parents;
    // The part of `info` that the limiter reads.
    const info = { fieldName: field } as GraphQLResolveInfo;
    const call = { parent: undefined, args: { parents: { length: parents } }, context: name, info };
    const options = { max, arrayLengthField: 'parents', uncountRejected: true };
    // It treats a maximum of 0 as unset.
    if (max > 0 && (await this.#limiter(call, options)) === undefined) return undefined;
    const message = `${field} can be loaded for ${limit} parents per minute with this key, and fewer than these ${parents} are left.`;
    const retryAfterSeconds = Math.max(1, Math.ceil((window.closesAt - this.#now()) / 1000));
    return new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
  }

  #windowOf(name: string): { readonly closesAt: number; parents: number } {
    const now = this.#now();
    let window = this.#windows.get(name);
    if (window === undefined || window.closesAt <= now) {
      window = { closesAt: now + windowMillis, parents: 0 };
      this.#windows.set(name, window);
    }
    return window;
  }
}
