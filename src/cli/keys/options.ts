import { planLimits, planNames, type PlanName } from '../../domain/access/plan.ts';
import { scopes as allScopes } from '../../domain/access/scope.ts';
import { choice, duration, flag, list, type Option, orNull, text, UsageError, wholeNumber } from '../options.ts';

/** `free (60 requests per minute, 1,000 per day)`. */
function planWithFigures(each: PlanName): string {
  const limits = planLimits[each];
  if (limits === undefined) return `${each}, with --per-minute and --per-day of its own`;
  const [minute, day] = [limits.requestsPerMinute, limits.requestsPerDay].map((limit) => limit.toLocaleString('en'));
  return `${each} (${minute} requests per minute, ${day} per day)`;
}

export const name = text('NAME', 'what the key is called, for you and for the log');
export const plan = choice('PLAN', planNames, { help: planNames.map(planWithFigures).join('\n') });
export const perMinute = wholeNumber({ help: 'requests per minute', field: 'requestsPerMinute' });
export const perDay = wholeNumber({ help: 'requests per day', field: 'requestsPerDay' });
export const scopes = list('SCOPES', allScopes, {
  help: `${allScopes.join(', ')}, with commas between; write and webhooks include read,\nadmin all. Default: read,write`,
});
export const expiresIn = orNull(
  'never',
  duration('90d', 1, { help: 'how long it is valid: 90s, 15m, 24h, 90d, or never', field: 'expiresAt' }),
);
export const span = duration('15m', 1, { help: 'how long: 90s, 15m, 24h, 90d', field: 'seconds', unit: 'in seconds' });
export const overlap = duration('24h', 0, {
  help: 'how long the old secret stays valid: 24h by default, and at most 30d',
  field: 'overlapSeconds',
  unit: 'in seconds',
});
export const withUsage = flag('with what is spent of the minute and of the day, and the last use');
export const sort = choice('id|spent', ['id', 'spent'], {
  help: 'spent: first who has spent most of the day; by default id',
});
export const onlyRefused = flag('only requests that the quota or a ban has refused');
export const requestId = text('REQUEST', 'only the request with this X-Request-Id');
export const per = choice('hour|day', ['hour', 'day'], { help: 'the periods; by default hour' });
export const since = duration('7d', 1, { help: 'so long ago, at most 400 periods' });
export const nearLimit: Option<number> = {
  value: '80',
  help: 'only keys that have spent so many per cent of their minute or of their day',
  parse: (_name, given) => {
    const percent = /^\d{1,3}$/.test(given) ? Number(given) : Number.NaN;
    if (percent >= 1 && percent <= 100) return percent;
    throw new UsageError(
      `--near-limit is ${JSON.stringify(given)}, but must be a whole number of percent from 1 to 100.`,
    );
  },
};
