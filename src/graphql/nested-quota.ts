import type { GraphQLResolveInfo } from 'graphql';
import { getGraphQLRateLimiter } from 'graphql-rate-limit';

import type { Principal } from '../domain/access/principal.ts';
import { LruMap } from '../platform/lru-map.ts';
import { HttpError } from '../http/error-table.ts';

const windowMillis = 60_000;
/** A full page of parents for each request of the plan. */
export const parentsPerRequest = 100;
/** The windows that were used last are remembered: so many, or twice as many. */
const maxWindows = 10_000;

/** Limits how many parents per minute a key may load each nested connection for. Each process counts separately. */
export class NestedQuota {
  readonly #now: () => number;
  /** The windows, by the key and the field. */
  readonly #windows = new LruMap<string, { readonly closesAt: number; parents: number }>(maxWindows);
  /**
   * The stores of graphql-rate-limit (3.3) keep an instant for every call, here for every parent. This one keeps a sum,
   * and the limiter gets what is left as its maximum.
   */
  readonly #limiter = getGraphQLRateLimiter({
    identifyContext: ({ id }: Pick<Principal, 'id'>) => id,
    store: {
      getForIdentity: () => [],
      setForIdentity: ({ contextIdentity, fieldIdentity }, calls) => {
        this.#windowOf(contextIdentity, fieldIdentity).parents += calls.length;
      },
    },
  });
  /** The limiter reads and writes its store in two steps, which must not interleave. */
  #lastDecision: Promise<unknown> = Promise.resolve();

  constructor(now = (): number => performance.now()) {
    this.#now = now;
  }

  /** Counts the parents of one batch of a nested connection; returns the reason for a refusal, or undefined. */
  count(key: Pick<Principal, 'id' | 'limits'>, field: string, parents: number): Promise<HttpError | undefined> {
    const decision = this.#lastDecision.then(() => this.#decide(key, field, parents));
    this.#lastDecision = decision;
    return decision;
  }

  async #decide(
    context: Pick<Principal, 'id' | 'limits'>,
    field: string,
    parents: number,
  ): Promise<HttpError | undefined> {
    const limit = context.limits.requestsPerMinute * parentsPerRequest;
    const window = this.#windowOf(context.id, field);
    const max = limit - window.parents;
    // The limiter reads nothing else of `info`.
    const info = { fieldName: field } as GraphQLResolveInfo;
    const call = { parent: undefined, args: { parents: { length: parents } }, context, info };
    const options = { max, arrayLengthField: 'parents', uncountRejected: true };
    // The limiter takes a maximum of 0 for unset.
    if (max > 0 && (await this.#limiter(call, options)) === undefined) return undefined;
    const message = `${field} can be loaded for ${limit} parents per minute with this key, and fewer than these ${parents} are left.`;
    const retryAfterSeconds = Math.max(1, Math.ceil((window.closesAt - this.#now()) / 1000));
    return new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
  }

  #windowOf(id: string, field: string): { readonly closesAt: number; parents: number } {
    const name = `${id} ${field}`;
    const now = this.#now();
    let window = this.#windows.get(name);
    if (window === undefined || window.closesAt <= now) {
      window = { closesAt: now + windowMillis, parents: 0 };
      this.#windows.set(name, window);
    }
    return window;
  }
}
