import type { BanRecord } from './bans.ts';
import type { Charge, QuotaSubject } from './counter-store.ts';
import type { CounterDecision } from './counter.ts';

/** A request to the process that counts: few and short values, because there are as many as requests. */
export type CounterRequest = readonly [
  needs: number,
  spends: number,
  refusal: Charge['refusal'] | null,
  id: string,
  requestsPerMinute: number,
  requestsPerDay: number,
  isAnonymous: boolean,
  isUnsaved: boolean,
  bans: BanRecord | null,
];

/** The time, both windows, and the ban, as Redis replies them too. */
export type CounterFigures = [
  now: number,
  minuteOpenedAt: number,
  minuteSpent: number,
  dayOpenedAt: number,
  daySpent: number,
  bannedUntil: number,
  banEpoch: number,
];

export type CounterResponse = readonly [outcome: CounterDecision['outcome'], isBanNew: boolean, ...CounterFigures];

export function counterRequestOf(subject: QuotaSubject, { needs, spends, refusal }: Charge): CounterRequest {
  const { id, limits, bans = null, isAnonymous, isUnsaved } = subject;
  const { requestsPerMinute, requestsPerDay } = limits;
  return [needs, spends, refusal ?? null, id, requestsPerMinute, requestsPerDay, isAnonymous, isUnsaved === true, bans];
}

export function readRequest(request: CounterRequest): readonly [QuotaSubject, Charge] {
  const [needs, spends, refusal, id, requestsPerMinute, requestsPerDay, isAnonymous, isUnsaved, bans] = request;
  const subject: QuotaSubject = {
    id,
    limits: { requestsPerMinute, requestsPerDay },
    bans: bans ?? undefined,
    isAnonymous,
    isUnsaved,
  };
  return [subject, { needs, spends, refusal: refusal ?? undefined }];
}

export function counterResponseOf(decision: CounterDecision): CounterResponse {
  const { outcome, now, minute, day, bannedUntil, banEpoch, isBanNew } = decision;
  return [outcome, isBanNew, now, minute.openedAt, minute.spent, day.openedAt, day.spent, bannedUntil, banEpoch];
}

export function readResponse(response: CounterResponse): CounterDecision {
  const [outcome, isBanNew, now, minuteOpenedAt, minuteSpent, dayOpenedAt, daySpent, bannedUntil, banEpoch] = response;
  return {
    outcome,
    now,
    minute: { openedAt: minuteOpenedAt, spent: minuteSpent },
    day: { openedAt: dayOpenedAt, spent: daySpent },
    bannedUntil,
    banEpoch,
    isBanNew,
  };
}
