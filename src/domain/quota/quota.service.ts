import type { AutomaticBan, Charge, CounterStore, QuotaDecision, QuotaSubject } from './counter-store.ts';

/** Told of each ban that a refused request has brought about, so that it is written down; it must not throw. */
export type OnBan = (subject: QuotaSubject, ban: AutomaticBan) => void;

/** Whether somebody may make one more request. */
export class QuotaService {
  readonly #store: CounterStore;
  readonly #onBan: OnBan;

  constructor(store: CounterStore, onBan: OnBan) {
    this.#store = store;
    this.#onBan = onBan;
  }

  /** For a request whose cost is known, at least 1. */
  consume(subject: QuotaSubject, cost: number): Promise<QuotaDecision> {
    return this.#decide(subject, { needs: cost, spends: cost });
  }

  /** For a request whose cost isn't known yet: refused when nothing at all is left, and spends nothing. */
  check(subject: QuotaSubject): Promise<QuotaDecision> {
    return this.#decide(subject, { needs: 1, spends: 0 });
  }

  /** For a request that costs nothing, and is told the figures all the same: never refused, but for a ban. */
  look(subject: QuotaSubject): Promise<QuotaDecision> {
    return this.#decide(subject, { needs: 0, spends: 0 });
  }

  async #decide(subject: QuotaSubject, charge: Charge): Promise<QuotaDecision> {
    const decision = await this.#store.decide(subject, charge);
    if (decision.outcome === 'banned' && decision.begun !== undefined) this.#onBan(subject, decision.begun);
    return decision;
  }
}
