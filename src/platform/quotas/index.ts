export { type BanRecord, type BanRules, graceMillis } from './bans.ts';
export type { AutomaticBan, QuotaDecision, QuotaSubject } from './counter-store.ts';
export { type CounterHost, openCounters } from './counters.ts';
export { HostedCounters } from './hosted-counters.ts';
export { QuotaService } from './quota.service.ts';
export type { CounterRequest, CounterResponse } from './counter-messages.ts';
export { parseRedisUrl, UnusableRedisUrl } from './redis-url.ts';
export type { DayCounter, SubjectUsage, UsageTable } from './usage-recorder.ts';
export {
  dayMillis,
  figuresOf,
  isOpen,
  minuteMillis,
  type QuotaLimits,
  secondsUntil,
  tightest,
  type WindowFigures,
} from './window.ts';
