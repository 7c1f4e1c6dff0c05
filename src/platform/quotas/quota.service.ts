import type { AutomaticBan, Charge, CounterStore, QuotaDecision, QuotaSubject } from './counter-store.ts';

/** Called for each automatic ban, to save it. Must not throw. */
export type OnBan = (subject: QuotaSubject, ban: AutomaticBan) => void;

/** Of a store in this process without a promise: that is the path of every request. */
type Decided = QuotaDecision | Promise<QuotaDecision>;

const one: Charge = { needs: 1, spends: 1 };

/** The refused openings of a minute that don't count towards a ban. */
const excusedOpenings = 6;

/** Decides whether a key or an address may make one more request. */
export class QuotaService {
  readonly #store: CounterStore;
  readonly #onBan: OnBan;

  constructor(store: CounterStore, onBan: OnBan) {
    this.#store = store;
    this.#onBan = onBan;
  }

  /** For a request whose cost is known, at least 1. */
  consume(subject: QuotaSubject, cost: number): Decided {
    return this.#decide(subject, { needs: cost, spends: cost });
  }

  /** For a request whose cost isn't known yet: refused when nothing is left; spends nothing. */
  check(subject: QuotaSubject): Decided {
    return this.#decide(subject, { needs: 1, spends: 0 });
  }

  /** For a response that costs nothing but carries the quota headers: refused only by a ban. */
  peek(subject: QuotaSubject): Decided {
    return this.#decide(subject, { needs: 0, spends: 0 });
  }

  /**
   * For a request that reads only its quota: free as often per minute as the plan has requests per minute, then 1 each.
   * Counted exactly, across all processes that share a Redis.
   */
  async consumeFree(subject: QuotaSubject): Promise<{ readonly cost: 0 | 1; readonly decision: QuotaDecision }> {
    const { outcome } = await this.#store.decide(countersOf('free', subject, subject.limits.requestsPerMinute), one);
    if (outcome === 'admitted') return { cost: 0, decision: await this.peek(subject) };
    return { cost: 1, decision: await this.consume(subject, 1) };
  }

  /**
   * For an opening of an event stream that was refused after it has spent its cost: counts towards a ban, but for the
   * first few of a minute, since clients reconnect by themselves. The outcome is `refused` or `banned`.
   */
  async countRefusedOpening(subject: QuotaSubject): Promise<QuotaDecision> {
    const { outcome } = await this.#store.decide(countersOf('openings', subject, excusedOpenings), one);
    return this.#decide(subject, { needs: 0, spends: 0, refusal: outcome === 'admitted' ? 'excused' : 'counted' });
  }

  #decide(subject: QuotaSubject, charge: Charge): Decided {
    const decision = this.#store.decide(subject, charge);
    if (!(decision instanceof Promise)) return this.#recordBan(subject, decision);
    return decision.then((each) => this.#recordBan(subject, each));
  }

  #recordBan(subject: QuotaSubject, decision: QuotaDecision): QuotaDecision {
    if (decision.outcome === 'banned' && decision.begun !== undefined) this.#onBan(subject, decision.begun);
    return decision;
  }
}

/** Counts something else of the same key, so many in a minute, without a daily limit. */
function countersOf(name: 'free' | 'openings', { id }: QuotaSubject, requestsPerMinute: number): QuotaSubject {
  const limits = { requestsPerMinute, requestsPerDay: 2 ** 31 - 1 };
  return { id: `${name}:${id}`, limits, bans: undefined, isAnonymous: false, isUnsaved: true };
}
