import type { GraphQLResolveInfo } from 'graphql';
import { getGraphQLRateLimiter, type Identity, type Store } from 'graphql-rate-limit';

import type { Principal } from '../domain/access/principal.ts';
import { HttpError } from '../http/error-table.ts';

const windowMillis = 60_000;

/** A full page of parents for each request of the plan. */
const parentsPerRequest = 100;

/** Above this number, expired ones are deleted. */
const maxWindows = 10_000;

/** Counts the parents of one batch of a nested connection; returns the reason for a refusal, or undefined. */
export type CountParents = (field: string, parents: number) => Promise<HttpError | undefined>;

/** Limits for how many parents per minute a key may load each nested connection. Each process counts separately. */
export class NestedQuota {
  readonly #sums: ParentSums;
  readonly #limiter: ReturnType<typeof getGraphQLRateLimiter>;
  /** The limiter reads and writes its store in two steps, which must not interleave. */
  #lastDecision: Promise<unknown> = Promise.resolve();

  constructor(now: () => number = Date.now) {
    this.#sums = new ParentSums(now);
    this.#limiter = getGraphQLRateLimiter({ identifyContext: ({ id }: Principal) => id, store: this.#sums });
  }

  counterFor(principal: Principal): CountParents {
    return (field, parents) => {
      const decision = this.#lastDecision.then(() => this.#decide(principal, field, parents));
      this.#lastDecision = decision;
      return decision;
    };
  }

  async #decide(principal: Principal, field: string, parents: number): Promise<HttpError | undefined> {
    const limit = principal.subject.limits.requestsPerMinute * parentsPerRequest;
    const { left, closesInSeconds } = this.#sums.peek({ contextIdentity: principal.id, fieldIdentity: field }, limit);
    // The limiter treats a maximum of 0 as unset.
    const isRefused = left <= 0 || (await this.#consume(principal, field, parents, left)) !== undefined;
    if (!isRefused) return undefined;
    const message = `${field} can be loaded for ${limit} parents per minute with this key, and fewer than these ${parents} are left.`;
    return new HttpError('RATE_LIMITED', message, { retryAfterSeconds: closesInSeconds });
  }

  #consume(principal: Principal, field: string, parents: number, max: number): Promise<string | undefined> {
    return this.#limiter(
      {
        parent: undefined,
        args: { parents: { length: parents } },
        context: principal,
        // The part that the limiter reads.
        info: { fieldName: field } as GraphQLResolveInfo,
      },
      { max, arrayLengthField: 'parents', uncountRejected: true },
    );
  }
}

/**
 * The store of graphql-rate-limit: a sum for each key and field, in windows of a minute.
 *
 * Its own stores keep a timestamp for every call, here for every parent, and copy all of them each time. This one
 * stores none: the limiter gets the remaining number as its maximum instead.
 */
class ParentSums implements Store {
  readonly #now: () => number;
  readonly #windows = new Map<string, { readonly openedAt: number; parents: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  peek(identity: Identity, limit: number): { readonly left: number; readonly closesInSeconds: number } {
    const now = this.#now();
    const { openedAt = now, parents = 0 } = this.#open(identity) ?? {};
    return { left: limit - parents, closesInSeconds: Math.max(1, Math.ceil((openedAt + windowMillis - now) / 1000)) };
  }

  getForIdentity(): readonly number[] {
    return [];
  }

  setForIdentity(identity: Identity, calls: readonly number[]): void {
    const window = this.#open(identity);
    if (window !== undefined) window.parents += calls.length;
    else this.#windows.set(nameOf(identity), { openedAt: this.#now(), parents: calls.length });
    if (this.#windows.size > maxWindows) this.#clear();
  }

  #open(identity: Identity): { readonly openedAt: number; parents: number } | undefined {
    const window = this.#windows.get(nameOf(identity));
    return window !== undefined && this.#now() - window.openedAt < windowMillis ? window : undefined;
  }

  #clear(): void {
    const now = this.#now();
    for (const [name, { openedAt }] of this.#windows) {
      if (now - openedAt >= windowMillis) this.#windows.delete(name);
    }
  }
}

function nameOf({ contextIdentity, fieldIdentity }: Identity): string {
  return `${contextIdentity} ${fieldIdentity}`;
}
