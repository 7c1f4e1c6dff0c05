import {
  banEnd,
  beginBan,
  countRefusal,
  graceMillis,
  newBanState,
  withoutOlderEpoch,
  type BanRules,
  type BanState,
} from './bans.ts';
import type { Charge, QuotaDecision, QuotaSubject } from './counter-store.ts';
import {
  bringUpToDate,
  dayMillis,
  figuresOf,
  isOpen,
  minuteMillis,
  newWindow,
  secondsUntil,
  spend,
  type QuotaLimits,
  type QuotaWindow,
  type SpentWindow,
} from './window.ts';

export interface Counter {
  readonly minute: QuotaWindow;
  readonly day: QuotaWindow;
  bans: BanState;
}

/** A decision as a counter store makes it: the windows after it instead of figures for clients. */
export interface CounterDecision {
  readonly outcome: QuotaDecision['outcome'];
  readonly now: number;
  readonly minute: SpentWindow;
  readonly day: SpentWindow;
  /** Zero when there is no ban, past when it is over. */
  readonly bannedUntil: number;
  readonly banEpoch: number;
  /** Whether this request has led to the ban. */
  readonly isBanNew: boolean;
}

/** That of nearly all counters, of which there may be many. */
const neverBanned: BanState = Object.freeze(newBanState());

export function newCounter(): Counter {
  return { minute: newWindow(), day: newWindow(), bans: neverBanned };
}

/** To be changed: no other counter's from then on. */
export function ownBans(counter: Counter): BanState {
  if (counter.bans === neverBanned) counter.bans = newBanState();
  return counter.bans;
}

/** Decides about a request and counts it: the algorithm of every counter store. */
export function decide(
  counter: Counter,
  { limits, bans: record }: QuotaSubject,
  charge: Charge,
  rules: BanRules,
  now: number,
): CounterDecision {
  const { minute, day } = counter;
  let bannedUntil = 0;
  const decided = (outcome: CounterDecision['outcome'], isBanNew = false): CounterDecision => {
    return { outcome, now, minute, day, bannedUntil, banEpoch: counter.bans.epoch, isBanNew };
  };
  bringUpToDate(minute, minuteMillis, now);
  bringUpToDate(day, dayMillis, now);
  if (record !== undefined) {
    counter.bans = withoutOlderEpoch(counter.bans, record);
    bannedUntil = banEnd(counter.bans, record);
    if (now < bannedUntil) return decided('banned');
  }

  const isTooCostly = charge.needs > largestCost(limits);
  const { needs, spends } = isTooCostly ? { needs: 1, spends: 1 } : charge;
  const full =
    charge.refusal === undefined
      ? fullWindows(counter, limits, needs)
      : [minute].filter(({ openedAt }) => openedAt !== 0);
  if (full.length === 0) {
    spend(minute, spends, now);
    spend(day, spends, now);
    return decided(isTooCostly ? 'too_costly' : 'admitted');
  }

  const couldKnow = full.some(({ firstRefusedAt }) => firstRefusedAt !== 0 && now - firstRefusedAt > graceMillis);
  for (const window of full) window.firstRefusedAt ||= now;
  const isCounted = couldKnow && charge.refusal !== 'excused' && record !== undefined && rules.banAfter > 0;
  if (!isCounted || !countRefusal(ownBans(counter), rules, now)) return decided('refused');
  bannedUntil = beginBan(ownBans(counter), record, rules, now);
  return decided('banned', true);
}

/** The decision for the caller of a counter store. */
export function decisionOf(decided: CounterDecision, { limits }: QuotaSubject, charge: Charge): QuotaDecision {
  const { outcome, now, bannedUntil, banEpoch, isBanNew } = decided;
  const figures = {
    now,
    minute: figuresOf('minute', decided.minute, limits.requestsPerMinute, now),
    day: figuresOf('day', decided.day, limits.requestsPerDay, now),
  };
  switch (outcome) {
    case 'admitted':
      return { outcome, ...figures };
    case 'too_costly':
      return { outcome, ...figures, largestCost: largestCost(limits) };
    case 'banned': {
      const begun = isBanNew ? { begunAt: now, until: bannedUntil, epoch: banEpoch } : undefined;
      return { outcome, ...figures, retryAfterSeconds: secondsUntil(bannedUntil, now), begun };
    }
    case 'refused': {
      const needs = charge.needs > largestCost(limits) ? 1 : charge.needs;
      const { minute, day } = figures;
      const lastReset = Math.max(...[minute, day].map((each) => (each.remaining < needs ? each.resetsAt : now)));
      return { outcome, ...figures, retryAfterSeconds: secondsUntil(lastReset, now) };
    }
  }
}

/** Whether the counter can be deleted without effect. Stored bans don't matter here. */
export function isExpired({ minute, day, bans }: Counter, now: number): boolean {
  if (isOpen(minute, minuteMillis, now) || isOpen(day, dayMillis, now) || now < bans.bannedUntil) return false;
  return bans.automaticBans.every((begun) => now - begun >= dayMillis);
}

function largestCost({ requestsPerMinute, requestsPerDay }: QuotaLimits): number {
  return Math.min(requestsPerMinute, requestsPerDay);
}

/**
 * The windows that have less than this left. After a change to a smaller plan, usage may exceed the limit; a need of 0
 * is admitted even then.
 */
function fullWindows({ minute, day }: Counter, limits: QuotaLimits, needs: number): QuotaWindow[] {
  const isFull = (window: QuotaWindow, limit: number): boolean => Math.max(0, limit - window.spent) < needs;
  return [
    ...(isFull(minute, limits.requestsPerMinute) ? [minute] : []),
    ...(isFull(day, limits.requestsPerDay) ? [day] : []),
  ];
}
