import type { BanRecord } from './bans.ts';
import type { Charge, QuotaSubject } from './counter-store.ts';
import type { CounterDecision } from './counter.ts';

/** A question to the process that counts: few and short values, because there are as many as requests. */
export type CounterQuestion = readonly [
  needs: number,
  spends: number,
  refusal: Charge['refusal'] | null,
  id: string,
  requestsPerMinute: number,
  requestsPerDay: number,
  isAnonymous: 0 | 1,
  isUnsaved: 0 | 1,
  bans: BanRecord | null,
];

/** Its answer: the outcome, the time, both windows, and the ban. */
export type CounterAnswer = readonly [
  outcome: CounterDecision['outcome'],
  now: number,
  minuteOpenedAt: number,
  minuteSpent: number,
  dayOpenedAt: number,
  daySpent: number,
  bannedUntil: number,
  banEpoch: number,
  isBanNew: 0 | 1,
];

export function questionOf(subject: QuotaSubject, { needs, spends, refusal }: Charge): CounterQuestion {
  const { id, limits, bans = null, isAnonymous, isUnsaved } = subject;
  const { requestsPerMinute, requestsPerDay } = limits;
  return [
    needs,
    spends,
    refusal ?? null,
    id,
    requestsPerMinute,
    requestsPerDay,
    isAnonymous ? 1 : 0,
    isUnsaved === true ? 1 : 0,
    bans,
  ];
}

export function readQuestion(question: CounterQuestion): readonly [QuotaSubject, Charge] {
  const [needs, spends, refusal, id, requestsPerMinute, requestsPerDay, isAnonymous, isUnsaved, bans] = question;
  const subject: QuotaSubject = {
    id,
    limits: { requestsPerMinute, requestsPerDay },
    bans: bans ?? undefined,
    isAnonymous: isAnonymous === 1,
    isUnsaved: isUnsaved === 1,
  };
  return [subject, { needs, spends, refusal: refusal ?? undefined }];
}

export function answerOf({
  outcome,
  now,
  minute,
  day,
  bannedUntil,
  banEpoch,
  isBanNew,
}: CounterDecision): CounterAnswer {
  return [
    outcome,
    now,
    minute.openedAt,
    minute.spent,
    day.openedAt,
    day.spent,
    bannedUntil,
    banEpoch,
    isBanNew ? 1 : 0,
  ];
}

export function readAnswer(answer: CounterAnswer): CounterDecision {
  const [outcome, now, minuteOpenedAt, minuteSpent, dayOpenedAt, daySpent, bannedUntil, banEpoch, isBanNew] = answer;
  return {
    outcome,
    now,
    minute: { openedAt: minuteOpenedAt, spent: minuteSpent },
    day: { openedAt: dayOpenedAt, spent: daySpent },
    bannedUntil,
    banEpoch,
    isBanNew: isBanNew === 1,
  };
}
