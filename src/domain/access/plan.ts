import type { InputCheck } from '../input.ts';
import type { QuotaLimits } from '../../platform/quotas/index.ts';
import { integerRule } from '../rules.ts';

export const planNames = ['free', 'pro', 'business', 'enterprise'] as const;

export type PlanName = (typeof planNames)[number];

export const freeLimits: QuotaLimits = { requestsPerMinute: 60, requestsPerDay: 1_000 };
export const businessLimits: QuotaLimits = { requestsPerMinute: 1_000, requestsPerDay: 100_000 };

/** Enterprise has none: each of its keys has figures of its own. */
export const planLimits: Readonly<Record<PlanName, QuotaLimits | undefined>> = {
  free: freeLimits,
  pro: { requestsPerMinute: 300, requestsPerDay: 10_000 },
  business: businessLimits,
  enterprise: undefined,
};

/** The event streams of one key in one process. */
export const maxEventStreams: Readonly<Record<PlanName, number>> = { free: 1, pro: 5, business: 20, enterprise: 20 };

/** The plan that a client requests; figures only for a plan that has none. */
export interface PlanInput {
  readonly plan: PlanName;
  readonly requestsPerMinute?: number | null | undefined;
  readonly requestsPerDay?: number | null | undefined;
}

/** The plan of a key as it is stored: a figure is null where the plan has one. */
export interface StoredPlan {
  readonly plan: PlanName;
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
}

const figureRule = integerRule(1, 2 ** 31 - 1);

export function checkPlan(check: InputCheck, { plan, ...figures }: PlanInput): StoredPlan {
  const limits = planLimits[plan];
  const figure = (field: keyof QuotaLimits): number | null => {
    const given = figures[field] ?? undefined;
    if (limits === undefined && given === undefined)
      check.refuse(field, `is needed: the plan ${plan} has none, so each of its keys has its own.`);
    if (limits !== undefined && given !== undefined) {
      check.refuse(
        field,
        `is ${limits[field]} in the plan ${plan}: leave it out, only keys of a plan without figures have their own.`,
      );
    }
    return check.optional(field, given, figureRule) ?? null;
  };
  return { plan, requestsPerMinute: figure('requestsPerMinute'), requestsPerDay: figure('requestsPerDay') };
}

/** The effective figures of a key. */
export function limitsOf({ plan, requestsPerMinute, requestsPerDay }: StoredPlan): QuotaLimits {
  const limits = planLimits[plan];
  if (limits !== undefined) return limits;
  if (requestsPerMinute === null || requestsPerDay === null)
    throw new Error(`A key of the plan ${plan} lacks its figures.`);
  return { requestsPerMinute, requestsPerDay };
}
