import type { AccessService, CreatedKey } from '../../domain/access/access.service.ts';
import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { usageOf } from '../../domain/access/key-status.ts';
import { planNames, type PlanInput } from '../../domain/access/plan.ts';
import { scopes, type Scope } from '../../domain/access/scope.ts';
import { parseId } from '../../domain/id.ts';
import type { RequestService } from '../../domain/requests/request.service.ts';
import { allOf, type Command as CommandOf, type CommandWork as WorkOf, onlyOf, type Output } from '../command-line.ts';
import { choiceOf, choicesOf, durationOf, numberOf, required, UsageError } from '../option-values.ts';
import { changeAsJson, describeKey, historyTable, keyAsJson, keyDetails, keyTable } from './output.ts';
import { deprecatedTable, periodAsJson, useAsJson, requestAsJson, requestTable, usageTable } from './request-output.ts';

/** The services that the commands use. */
interface KeyServices {
  readonly access: AccessService;
  readonly requests: RequestService;
}

/** The parsed options of a command. */
type OptionValues = Readonly<Partial<Record<Exclude<OptionName, Flag>, string>> & Partial<Record<Flag, boolean>>>;

/** An option without a value. */
type Flag = 'usage' | 'refused';

export const flags: ReadonlySet<string> = new Set<Flag>(['usage', 'refused']);

type OptionName =
  | 'name'
  | 'plan'
  | 'scopes'
  | 'per-minute'
  | 'per-day'
  | 'expires-in'
  | 'for'
  | 'overlap'
  | 'near-limit'
  | 'sort'
  | 'per'
  | 'request'
  | 'since'
  | Flag;

type Command = CommandOf<KeyServices, OptionValues>;
type CommandWork = WorkOf<KeyServices>;

/** The commands, in the order of the help. */
export const commands: Readonly<Record<string, Command>> = {
  create: {
    summary: 'Creates a key and prints it; it cannot be shown again',
    usage: `--name NAME --plan PLAN [--scopes read,write] [--per-minute N --per-day N] [--expires-in 90d]`,
    prepare: create,
  },
  list: {
    summary: 'Lists all keys, with their usage, those near their limit, or those first that have spent most of the day',
    usage: '[--usage] [--near-limit 80] [--sort id|spent]',
    prepare: (values) => {
      const nearLimitPercent = values['near-limit'] === undefined ? undefined : percentOf(values['near-limit']);
      const order = choiceOf('sort', values.sort ?? 'id', ['id', 'spent']);
      const withUsage = values.usage === true || nearLimitPercent !== undefined || order === 'spent';
      return async ({ access }, now) => {
        const listed = await allOf((page) => access.list({ ...page, filter: { nearLimitPercent } }));
        const keys = order === 'spent' ? bySpent(listed, now) : listed;
        return { text: keyTable(keys, withUsage, now), json: keys.map((key) => keyAsJson(key, now)) };
      };
    },
  },
  show: {
    summary: 'Shows a key with its usage',
    usage: 'ID',
    prepare:
      (_values, id) =>
      async ({ access }, now) => {
        const key = await access.get(id);
        return { text: keyDetails(key, now), json: keyAsJson(key, now) };
      },
  },
  history: {
    summary: 'Shows the changes of a key, when and by whom, latest first',
    usage: 'ID',
    prepare:
      (_values, id) =>
      ({ access }) =>
        history(access, id),
  },
  requests: {
    summary: 'Shows the latest requests of a key, those that its quota or a ban has refused, or one',
    usage: 'ID [--refused] [--request REQUEST_ID]',
    prepare: (values, id) => (services) => requestsOf(services, id, values),
  },
  usage: {
    summary: 'Shows how much a key was used in each hour of the last day, or each day of the last 30',
    usage: 'ID [--per hour|day] [--since 7d]',
    prepare: usage,
  },
  deprecated: {
    summary: 'Shows what is deprecated and still used: its sunset, by which keys, when last, how often in 90 days',
    usage: '',
    prepare: () => deprecatedUses,
  },
  update: {
    summary: 'Changes the name, the scopes or the expiry of a key',
    usage: 'ID [--name NAME] [--scopes read,write] [--expires-in 90d|never]',
    prepare: update,
  },
  rotate: {
    summary:
      'Gives a key a new secret and prints it; it cannot be shown again, and the old one stays valid for the overlap',
    usage: 'ID [--overlap 24h]',
    prepare: rotate,
  },
  revoke: {
    summary: 'Revokes a key permanently',
    usage: 'ID',
    prepare:
      (_values, id) =>
      async ({ access }, now) =>
        changed(await access.revoke(id), now),
  },
  forget: {
    summary:
      'Replaces the name of a revoked key, in its history too, and what its holder has sent in the entries of its requests; it cannot be undone',
    usage: 'ID',
    prepare:
      (_values, id) =>
      async ({ access }, now) => ({
        ...changed(await access.forget(id), now),
        note: "This can't be undone. Log lines and backups still have what they had.",
      }),
  },
  ban: {
    summary: 'Bans a key for a while',
    usage: 'ID --for 15m',
    prepare: (values, id) => {
      const seconds = durationOf('for', required('for', values));
      return async ({ access }, now) => changed(await access.ban(id, seconds), now);
    },
  },
  unban: {
    summary: 'Ends a ban, and resets earlier bans and refusals',
    usage: 'ID',
    prepare:
      (_values, id) =>
      async ({ access }, now) =>
        changed(await access.unban(id), now),
  },
  'set-plan': {
    summary: 'Changes the plan of a key; its usage stays',
    usage: 'ID --plan PLAN [--per-minute N --per-day N]',
    prepare: (values, id) => {
      const plan = planOf(values);
      return async ({ access }, now) => changed(await access.setPlan(id, plan), now);
    },
  },
};

function create(values: OptionValues): CommandWork {
  const input = {
    name: required('name', values),
    ...planOf(values),
    scopes: values.scopes === undefined ? undefined : scopesOf(values.scopes),
  };
  const expiresIn = lifeOf(values['expires-in']);
  return async ({ access }, now) =>
    withSecret(await access.create({ ...input, expiresAt: expiryOf(expiresIn, now) }), now);
}

function update(values: OptionValues, id: string): CommandWork {
  const changes = {
    name: values.name,
    scopes: values.scopes === undefined ? undefined : scopesOf(values.scopes),
  };
  const expiresIn = lifeOf(values['expires-in']);
  if ([...Object.values(changes), expiresIn].every((change) => change === undefined)) {
    throw new UsageError('at least one of --name, --scopes and --expires-in is needed.');
  }
  return async ({ access }, now) =>
    changed(await access.update(id, { ...changes, expiresAt: expiryOf(expiresIn, now) }), now);
}

function rotate({ overlap }: OptionValues, id: string): CommandWork {
  const seconds = overlap === undefined ? undefined : durationOf('overlap', overlap, 0);
  return async ({ access }, now) => withSecret(await access.rotate(id, seconds), now);
}

function withSecret({ apiKey, secret }: CreatedKey, now: number): Output {
  return {
    text: secret,
    note: `${describeKey(apiKey, now)} Keep the key safe: it can't be shown again.`,
    json: { ...keyAsJson(apiKey, now), secret },
  };
}

async function history(access: AccessService, id: string): Promise<Output> {
  const key = parseId(id);
  const changes =
    key === undefined ? [] : await allOf(async (page) => onlyOf(await access.history.listPerParent([key], page)));
  // A deleted key still has a history.
  if (changes.length === 0) await access.get(id);
  return { text: historyTable(changes), json: changes.map(changeAsJson) };
}

const refusals = ['rate_limited', 'RATE_LIMITED', 'key_banned', 'KEY_BANNED'];

async function requestsOf({ access, requests }: KeyServices, id: string, values: OptionValues): Promise<Output> {
  const key = await access.get(id);
  const filter = { codeIn: values.refused === true ? refusals : undefined, requestId: values.request };
  const entries = await allOf(async (page) => onlyOf(await requests.listPerParent([key.id], { ...page, filter })));
  const omitted = onlyOf(await requests.omittedPerKey([key.id]));
  return { text: requestTable(entries, omitted), json: { requests: entries.map(requestAsJson), omitted } };
}

async function deprecatedUses({ access, requests }: KeyServices): Promise<Output> {
  const uses = await requests.listDeprecatedUses();
  const keys = await access.findMany(uses.map(({ keyId }) => keyId));
  const names = keys.map((key) => key?.name);
  return { text: deprecatedTable(uses, names), json: uses.map((use, index) => useAsJson(use, names[index])) };
}

function usage({ per: sent, since }: OptionValues, id: string): CommandWork {
  const per = sent === undefined ? 'hour' : choiceOf('per', sent, ['hour', 'day']);
  const seconds = since === undefined ? undefined : durationOf('since', since);
  return async ({ access, requests }, now) => {
    const key = await access.get(id);
    const request = { per, since: seconds === undefined ? undefined : new Date(now - seconds * 1000).toISOString() };
    const periods = onlyOf(await requests.usagePerKey([key.id], request));
    return { text: usageTable(periods), json: periods.map(periodAsJson) };
  };
}

/** The noisiest first: by what is spent of the day, then of the minute. */
function bySpent(keys: readonly ListedKey[], now: number): readonly ListedKey[] {
  const spentOf = (key: ListedKey): [day: number, minute: number] => {
    const { day, minute } = usageOf(key, now);
    return [day.spent, minute.spent];
  };
  const spent = new Map(keys.map((key) => [key, spentOf(key)]));
  return keys.toSorted((a, b) => {
    const [[dayOfA, minuteOfA], [dayOfB, minuteOfB]] = [spent.get(a) ?? [0, 0], spent.get(b) ?? [0, 0]];
    return dayOfB - dayOfA || minuteOfB - minuteOfA;
  });
}

function changed(key: ListedKey, now: number): Output {
  return { text: describeKey(key, now), json: keyAsJson(key, now) };
}

function planOf(values: OptionValues): PlanInput {
  const [perMinute, perDay] = [values['per-minute'], values['per-day']];
  return {
    plan: choiceOf('plan', required('plan', values), planNames),
    requestsPerMinute: perMinute === undefined ? undefined : numberOf('per-minute', perMinute),
    requestsPerDay: perDay === undefined ? undefined : numberOf('per-day', perDay),
  };
}

function scopesOf(text: string): readonly Scope[] {
  return choicesOf('scopes', text, scopes);
}

function percentOf(text: string): number {
  const percent = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (percent >= 1 && percent <= 100) return percent;
  throw new UsageError(`--near-limit is ${JSON.stringify(text)}, but must be a whole number of percent from 1 to 100.`);
}

/** The seconds that a key stays valid; null for a key that never expires; undefined when unset. */
function lifeOf(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  return text === 'never' ? null : durationOf('expires-in', text);
}

function expiryOf(life: number | null | undefined, now: number): string | null | undefined {
  if (life === undefined || life === null) return life;
  const instant = new Date(now + life * 1000);
  if (Number.isNaN(instant.getTime()) || instant.getUTCFullYear() > 9999) {
    throw new UsageError('--expires-in leads beyond the year 9999: use never for a key that never expires.');
  }
  return instant.toISOString();
}
