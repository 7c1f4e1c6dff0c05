import fc from 'fast-check';

import type { BanRecord, BanRules } from '../../../src/platform/quotas/bans.ts';
import type { Charge, QuotaDecision, QuotaSubject } from '../../../src/platform/quotas/counter-store.ts';
import type { QuotaLimits } from '../../../src/platform/quotas/window.ts';

/** What can happen to a key, in the order in which it happens. */
export type Step =
  | { readonly kind: 'wait'; readonly millis: number }
  | { readonly kind: 'setClockBack'; readonly millis: number }
  | ({ readonly kind: 'request' } & Charge)
  | { readonly kind: 'changePlan'; readonly limits: QuotaLimits }
  | { readonly kind: 'ban'; readonly seconds: number }
  | { readonly kind: 'unban' }
  | { readonly kind: 'writeBansDown' };

export interface Scenario {
  readonly rules: BanRules;
  readonly limits: QuotaLimits;
  readonly steps: readonly Step[];
}

const limits = fc.record({
  requestsPerMinute: fc.integer({ min: 1, max: 5 }),
  requestsPerDay: fc.integer({ min: 1, max: 9 }),
});

/** Instants at which something begins or ends are tried to the millisecond. */
const pause = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      1_999,
      2_000,
      2_001,
      10_000,
      20_000,
      59_999,
      60_000,
      60_001,
      600_000,
      86_399_999,
      86_400_000,
    ),
  },
);

const request = fc.oneof(
  fc.integer({ min: 0, max: 7 }).map((cost) => ({ kind: 'request' as const, needs: cost, spends: cost })),
  fc.constant({ kind: 'request' as const, needs: 1, spends: 1 }),
  fc.constant({ kind: 'request' as const, needs: 1, spends: 0 }),
  fc.constantFrom('counted' as const, 'excused' as const).map(refusedBy),
);

function refusedBy(refusal: Charge['refusal']): Step {
  return { kind: 'request', needs: 0, spends: 0, refusal };
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: request },
  { weight: 10, arbitrary: pause.map((millis) => ({ kind: 'wait' as const, millis })) },
  { weight: 1, arbitrary: pause.map((millis) => ({ kind: 'setClockBack' as const, millis })) },
  { weight: 1, arbitrary: limits.map((changed) => ({ kind: 'changePlan' as const, limits: changed })) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 90 }).map((seconds) => ({ kind: 'ban' as const, seconds })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'unban' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'writeBansDown' as const }) },
);

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  rules: fc.record({ banAfter: fc.integer({ min: 0, max: 3 }), banForSeconds: fc.constantFrom(1, 3, 900, 50_000) }),
  limits,
  steps: fc.array(step, { minLength: 1, maxLength: 80 }),
});

const ask = { kind: 'request', needs: 1, spends: 1 } as const;
const after = (millis: number): Step => ({ kind: 'wait', millis });
const setBack = (millis: number): Step => ({ kind: 'setClockBack', millis });
/** Spends a minute that has one request, waits until refusals count, and goes over by the second one that does. */
const provoke = [ask, ask, after(2_001), ask, ask];

const onePerMinute = { requestsPerMinute: 1, requestsPerDay: 9 };
const onePerDay = { requestsPerMinute: 9, requestsPerDay: 1 };

function edge(initial: QuotaLimits, steps: readonly Step[], rules: BanRules = { banAfter: 1, banForSeconds: 1 }) {
  return [{ rules, limits: initial, steps }] as [Scenario];
}

/** What begins or ends at an instant, tried just before it and just then: chance alone would seldom come by. */
export const edges: [Scenario][] = [
  edge(onePerMinute, [ask, ask, after(2_000), ask, ask, after(1), ask, ask]),
  ...[59_999, 60_000].map((wait) => edge(onePerMinute, [ask, after(wait), ask])),
  ...[86_399_999, 86_400_000].map((wait) => edge(onePerDay, [ask, after(wait), ask])),
  // A refusal that counts, and another one.
  ...[59_999, 60_000].map((wait) => edge(onePerDay, [ask, ask, after(2_001), ask, after(wait), ask])),
  // The end of a ban, and then refusals that don't go back before it.
  ...[999, 1_000].map((wait) => edge(onePerMinute, [...provoke, after(wait), ask])),
  // The second ban begins when it is 24 hours since the first one, or not quite.
  ...[86_397_998, 86_397_999].map((wait) => edge(onePerMinute, [...provoke, after(wait), ...provoke])),
  // Twice 50,000 seconds are more than a day.
  edge(onePerMinute, [...provoke, after(50_000_000), ...provoke], { banAfter: 1, banForSeconds: 50_000 }),
  // A clock that is set back, before and after a window has closed.
  ...[1, 30_000, 59_999, 60_000, 36_000_000, 86_400_000].flatMap((millis) => [
    edge(onePerDay, [ask, setBack(millis), ask, after(86_399_999), ask, after(1), ask]),
    edge(onePerMinute, [ask, setBack(millis), ask, after(59_999), ask, after(1), ask]),
    edge(onePerMinute, [ask, after(60_000), ask, setBack(millis), ask, after(2_001), ask, ask]),
    edge(onePerMinute, [ask, ask, after(2_001), ask, setBack(millis), ask, after(2_001), ask, ask, ask]),
  ]),
  // What else refuses counts as a refusal of the minute, unless it is excused; without an open minute it isn't one.
  edge({ requestsPerMinute: 5, requestsPerDay: 9 }, [
    refusedBy('counted'),
    ask,
    refusedBy('excused'),
    after(2_001),
    ...(['excused', 'counted', 'excused', 'counted'] as const).map(refusedBy),
  ]),
  // Two refusals are forgotten, and one more is not too many.
  edge(onePerMinute, [...provoke, { kind: 'unban' }, ask, ask], { banAfter: 2, banForSeconds: 1 }),
];

interface PastWindow {
  start: number;
  readonly spent: number[];
  refusals: number[];
  /** Seen to be over: it doesn't open again when the clock is set back. */
  isClosed: boolean;
}

interface Ban {
  readonly begunAt: number;
  readonly until: number;
  isWrittenDown: boolean;
}

/** The contract said once more, by way of a complete memory instead of counters, and with the database beside it. */
export class QuotaModel {
  now = 1_800_000_000_000;
  limits: QuotaLimits;
  readonly #rules: BanRules;
  readonly #windows: Record<'minute' | 'day', PastWindow[]> = { minute: [], day: [] };
  #automatic: Ban[] = [];
  #bannedUntil = 0;
  #refusals: number[] = [];
  #record: BanRecord = { epoch: 0, bannedUntil: 0, automaticBans: [] };

  constructor({ rules, limits: initial }: Scenario) {
    this.#rules = rules;
    this.limits = initial;
  }

  subject(id: string): QuotaSubject {
    return { id, limits: this.limits, bans: this.#record, isAnonymous: false };
  }

  apply(each: Exclude<Step, { kind: 'request' }>): void {
    switch (each.kind) {
      case 'wait':
        this.now += each.millis;
        break;
      case 'setClockBack':
        this.now -= each.millis;
        break;
      case 'changePlan':
        this.limits = each.limits;
        break;
      case 'writeBansDown':
        this.#writeBansDown();
        break;
      case 'ban':
        this.#operate(this.now + each.seconds * 1000, this.#record.automaticBans);
        this.#automatic = this.#automatic.filter(({ isWrittenDown }) => isWrittenDown);
        break;
      case 'unban':
        this.#operate(0, []);
        this.#automatic = [];
        break;
    }
  }

  /** The decision that a store must make. */
  request({ needs, spends, refusal }: Charge): QuotaDecision {
    this.#bringWindowsUpToDate();
    if (this.now < this.#bannedUntil) return this.#decision('banned', { until: this.#bannedUntil });
    const largestCost = Math.min(this.limits.requestsPerMinute, this.limits.requestsPerDay);
    if (needs > largestCost) {
      const decision = this.request({ needs: 1, spends: 1 });
      return decision.outcome === 'admitted' ? { ...decision, outcome: 'too_costly', largestCost } : decision;
    }
    if (refusal !== undefined) {
      if (this.#current('minute') === undefined) return this.#decision('admitted', {});
      return this.#refuse(['minute'], refusal === 'counted', this.now + 1_000);
    }
    const full = (['minute', 'day'] as const).filter((name) => this.#remaining(name) < needs);
    if (full.length === 0) {
      for (const name of ['minute', 'day'] as const) if (spends > 0) this.#openWindow(name).spent.push(spends);
      return this.#decision('admitted', {});
    }
    return this.#refuse(full, true, Math.max(...full.map((name) => this.#reset(name))));
  }

  #refuse(full: readonly ('minute' | 'day')[], isCounted: boolean, until: number): QuotaDecision {
    const windows = full.map((name) => this.#openWindow(name));
    const couldKnow = windows.some(({ refusals }) => refusals[0] !== undefined && refusals[0] < this.now - 2_000);
    for (const { refusals } of windows) refusals.push(this.now);
    if (isCounted && couldKnow && this.#rules.banAfter > 0) {
      if (this.#refusals.some((at) => at > this.now)) this.#refusals = [];
      this.#refusals.push(this.now);
      const lastMinute = this.#refusals.filter((at) => at > this.now - 60_000);
      if (lastMinute.length > this.#rules.banAfter) {
        const earlier = this.#automatic.filter(({ begunAt }) => begunAt > this.now - 86_400_000).length;
        const seconds = Math.min(86_400, this.#rules.banForSeconds * 2 ** earlier);
        this.#bannedUntil = this.now + seconds * 1000;
        this.#automatic.push({ begunAt: this.now, until: this.#bannedUntil, isWrittenDown: false });
        this.#refusals = [];
        return this.#decision('banned', { until: this.#bannedUntil, isNew: true });
      }
    }
    return this.#decision('refused', { until });
  }

  #decision(outcome: 'admitted' | 'refused' | 'banned', { until = 0, isNew = false }): QuotaDecision {
    const { now } = this;
    const figures = (name: 'minute' | 'day') => ({
      name,
      limit: name === 'minute' ? this.limits.requestsPerMinute : this.limits.requestsPerDay,
      lengthSeconds: name === 'minute' ? 60 : 86_400,
      remaining: this.#remaining(name),
      resetsAt: this.#reset(name),
    });
    const common = { now, minute: figures('minute'), day: figures('day') };
    if (outcome === 'admitted') return { outcome, ...common };
    const retryAfterSeconds = Math.ceil((until - now) / 1000);
    if (outcome === 'refused') return { outcome, ...common, retryAfterSeconds };
    const begun = isNew ? { begunAt: now, until, epoch: this.#record.epoch } : undefined;
    return { outcome, ...common, retryAfterSeconds, begun };
  }

  #remaining(name: 'minute' | 'day'): number {
    const limit = name === 'minute' ? this.limits.requestsPerMinute : this.limits.requestsPerDay;
    return Math.max(0, limit - (this.#current(name)?.spent ?? []).reduce((sum, cost) => sum + cost, 0));
  }

  #reset(name: 'minute' | 'day'): number {
    return (this.#current(name)?.start ?? this.now) + lengths[name];
  }

  #current(name: 'minute' | 'day'): PastWindow | undefined {
    return this.#windows[name].find(({ isClosed }) => !isClosed);
  }

  /** A window that lies ahead, because the clock was set back, opens now. */
  #bringWindowsUpToDate(): void {
    for (const name of ['minute', 'day'] as const) {
      const current = this.#current(name);
      if (current === undefined) continue;
      current.isClosed = this.now >= current.start + lengths[name];
      current.start = Math.min(current.start, this.now);
      current.refusals = current.refusals.map((at) => Math.min(at, this.now));
    }
  }

  #openWindow(name: 'minute' | 'day'): PastWindow {
    const current = this.#current(name) ?? { start: this.now, spent: [], refusals: [], isClosed: false };
    if (!this.#windows[name].includes(current)) this.#windows[name].push(current);
    return current;
  }

  #operate(bannedUntil: number, automaticBans: readonly number[]): void {
    this.#record = { epoch: this.#record.epoch + 1, bannedUntil, automaticBans };
    this.#bannedUntil = bannedUntil;
    this.#refusals = [];
  }

  #writeBansDown(): void {
    for (const ban of this.#automatic.filter(({ isWrittenDown }) => !isWrittenDown)) {
      ban.isWrittenDown = true;
      const { epoch, bannedUntil, automaticBans } = this.#record;
      const until = Math.max(bannedUntil, ban.until);
      this.#record = { epoch, bannedUntil: until, automaticBans: [...automaticBans, ban.begunAt] };
    }
  }
}

const lengths = { minute: 60_000, day: 86_400_000 };
