import { type CounterRequest, counterRequestOf, type CounterResponse, readResponse } from './counter-messages.ts';
import type { Charge, CounterStore, QuotaDecision, QuotaSubject } from './counter-store.ts';
import { decisionOf, newCounter } from './counter.ts';

/** Asks the process that counts. Rejects while that is silent. */
export type AskCounters = (request: CounterRequest) => Promise<CounterResponse>;

/**
 * Counts in another process of this machine, and never here: while that process is silent, what has to be counted fails.
 *
 * Whether anything is left, without spending it, is answered from the last decision about the same subject where that
 * says so: the cost itself is asked for in any case. A key that has changed is another subject.
 */
export class RemoteCounterStore implements CounterStore {
  readonly #ask: AskCounters;
  readonly #now: () => number;
  readonly #seen = new WeakMap<QuotaSubject, QuotaDecision>();

  constructor(ask: AskCounters, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  decide(subject: QuotaSubject, charge: Charge): QuotaDecision | Promise<QuotaDecision> {
    const seen = this.#seen.get(subject);
    const isCheck = charge.needs === 1 && charge.spends === 0;
    return isCheck && seen !== undefined && hasMore(seen) ? seen : this.#askFor(subject, charge);
  }

  async #askFor(subject: QuotaSubject, charge: Charge): Promise<QuotaDecision> {
    try {
      const decision = decisionOf(readResponse(await this.#ask(counterRequestOf(subject, charge))), subject, charge);
      this.#seen.set(subject, decision);
      return decision;
    } catch (error) {
      if (charge.needs > 0 || charge.refusal !== undefined) throw error;
      return this.#lastFigures(subject, charge);
    }
  }

  /** For a response that costs nothing and shows the figures: those last seen, or none spent. */
  #lastFigures(subject: QuotaSubject, charge: Charge): QuotaDecision {
    const seen = this.#seen.get(subject);
    if (seen !== undefined) return { outcome: 'admitted', now: seen.now, minute: seen.minute, day: seen.day };
    const { minute, day } = newCounter();
    const unbanned = { bannedUntil: 0, banEpoch: 0, isBanNew: false };
    return decisionOf({ outcome: 'admitted', now: this.#now(), minute, day, ...unbanned }, subject, charge);
  }
}

function hasMore({ outcome, minute, day }: QuotaDecision): boolean {
  return outcome === 'admitted' && minute.remaining > 0 && day.remaining > 0;
}
