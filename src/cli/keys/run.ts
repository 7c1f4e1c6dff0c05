import type { Environment } from '../../settings/setting-reader.ts';
import { AccessService } from '../../domain/access/access.service.ts';
import { operator } from '../../domain/access/principal.ts';
import { planLimits, planNames, type PlanName } from '../../domain/access/plan.ts';
import { scopes } from '../../domain/access/scope.ts';
import { RequestService } from '../../domain/requests/request.service.ts';
import { Callers } from '../../platform/callers/index.ts';
import { runCommandLine } from '../command-line.ts';
import { commands, flags } from './commands.ts';

/** `free (60 requests per minute, 1,000 per day)`. */
function planWithFigures(plan: PlanName): string {
  const limits = planLimits[plan];
  if (limits === undefined) return `${plan}, with --per-minute N and --per-day N of its own`;
  const [perMinute, perDay] = [limits.requestsPerMinute, limits.requestsPerDay].map((each) =>
    each.toLocaleString('en'),
  );
  return `${plan} (${perMinute} requests per minute, ${perDay} per day)`;
}

const explanation = `\
  --name NAME       what the key is called, for you and for the log
  --plan PLAN       ${planNames.map(planWithFigures).join('\n                    ')}
  --scopes SCOPES   ${scopes.join(', ')}, with commas between; write and webhooks include read,
                    admin all. Default: read,write
  --expires-in, --for, --overlap   a duration: 90s, 15m, 24h, 90d; --expires-in also never.
                    The overlap is 24h by default, and at most 30d
  --usage           with what is spent of the minute and of the day, and the last use
  --sort ORDER      spent: first who has spent most of the day; by default id
  --refused         only requests that the quota or a ban has refused
  --request ID      only the request with this X-Request-Id
  --per PERIOD      hour or day; --since: so long ago, at most 400 periods
  --near-limit N    only keys that have spent N per cent of their minute or of their day`;

/** Runs `keys` with these arguments, and returns the exit code. */
export function runKeys(args: readonly string[], environment?: Environment): Promise<number> {
  return runCommandLine(
    {
      name: 'keys',
      idName: 'the id of a key',
      commands,
      flags,
      optionOfField: {
        requestsPerMinute: '--per-minute',
        requestsPerDay: '--per-day',
        expiresAt: '--expires-in',
        seconds: '--for (in seconds)',
        overlapSeconds: '--overlap (in seconds)',
      },
      introduction: 'Manages API keys. What it changes holds in every running process within a second.',
      explanation,
      serve: ({ stores: storesOf }) => {
        const stores = storesOf.for(new Callers().service('keys'));
        const service = { access: new AccessService(stores, operator), requests: new RequestService(stores) };
        return { service, now: stores.clock.now() };
      },
    },
    args,
    environment,
  );
}
