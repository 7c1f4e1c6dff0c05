import { parseDuration } from '../../config.ts';
import type { AccessService } from '../../domain/access/access.service.ts';
import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { planNames, type PlanInput } from '../../domain/access/plan.ts';
import { scopes, type Scope } from '../../domain/access/scope.ts';
import { maxPageSize } from '../../domain/page.ts';
import { describeKey, keyAsJson, keyTable, type Output } from './output.ts';
import { UsageError } from './usage-error.ts';

/** The options of a command as they were given. */
type Values = Readonly<Partial<Record<OptionName, string>>>;

type OptionName = 'name' | 'plan' | 'scopes' | 'per-minute' | 'per-day' | 'expires-in' | 'for';

export interface Command {
  readonly summary: string;
  /** What comes after the command's name; one that needs an id has it first. */
  readonly usage: string;
  readonly options: readonly OptionName[];
  readonly needsId: boolean;
  /** Reads the options; throws UsageError before the database is opened. */
  prepare(values: Values, id: string): Work;
}

type Work = (access: AccessService) => Promise<Output>;

/** What can be done with keys, in the order of the help. */
export const commands: Readonly<Record<string, Command>> = {
  create: {
    summary: 'Makes a key and prints it, the only time that it can be seen',
    usage: `--name NAME --plan PLAN [--scopes read,write] [--per-minute N --per-day N] [--expires-in 90d]`,
    options: ['name', 'plan', 'scopes', 'per-minute', 'per-day', 'expires-in'],
    needsId: false,
    prepare: create,
  },
  list: { summary: 'Shows all keys', usage: '', options: [], needsId: false, prepare: () => list },
  revoke: {
    summary: 'Ends a key for ever',
    usage: 'ID',
    options: [],
    needsId: true,
    prepare: (_values, id) => async (access) => changed(await access.revoke(id)),
  },
  ban: {
    summary: 'Refuses a key for a while',
    usage: 'ID --for 15m',
    options: ['for'],
    needsId: true,
    prepare: (values, id) => {
      const seconds = durationOf('for', required('for', values));
      return async (access) => changed(await access.ban(id, seconds));
    },
  },
  unban: {
    summary: 'Ends a ban, and forgets earlier bans and refusals',
    usage: 'ID',
    options: [],
    needsId: true,
    prepare: (_values, id) => async (access) => changed(await access.unban(id)),
  },
  'set-plan': {
    summary: 'Gives a key another plan; what it has spent stays spent',
    usage: 'ID --plan PLAN [--per-minute N --per-day N]',
    options: ['plan', 'per-minute', 'per-day'],
    needsId: true,
    prepare: (values, id) => {
      const plan = planOf(values);
      return async (access) => changed(await access.setPlan(id, plan));
    },
  },
};

function create(values: Values): Work {
  const expiresIn = values['expires-in'];
  const input = {
    name: required('name', values),
    ...planOf(values),
    scopes: values.scopes === undefined ? undefined : scopesOf(values.scopes),
    expiresAt: expiresIn === undefined ? undefined : instantIn(durationOf('expires-in', expiresIn)),
  };
  return async (access) => {
    const { apiKey, secret } = await access.create(input);
    return {
      text: secret,
      note: `${describeKey(apiKey)} Keep the key safe: it can't be shown again.`,
      json: { ...keyAsJson(apiKey), secret },
    };
  };
}

async function list(access: AccessService): Promise<Output> {
  const keys: ListedKey[] = [];
  let after: string | undefined;
  do {
    const page = await access.list({ first: maxPageSize, after });
    keys.push(...page.rows);
    const last = page.rows.at(-1);
    after = page.hasNextPage && last !== undefined ? page.cursorOf(last) : undefined;
  } while (after !== undefined);
  return { text: keyTable(keys), json: keys.map(keyAsJson) };
}

function changed(key: ListedKey): Output {
  return { text: describeKey(key), json: keyAsJson(key) };
}

function planOf(values: Values): PlanInput {
  const [perMinute, perDay] = [values['per-minute'], values['per-day']];
  return {
    plan: choiceOf('plan', required('plan', values), planNames),
    requestsPerMinute: perMinute === undefined ? undefined : numberOf('per-minute', perMinute),
    requestsPerDay: perDay === undefined ? undefined : numberOf('per-day', perDay),
  };
}

function scopesOf(text: string): readonly Scope[] {
  return text.split(',').map((scope) => choiceOf('scopes', scope.trim(), scopes));
}

function required(option: OptionName, values: Values): string {
  const value = values[option];
  if (value === undefined || value === '') throw new UsageError(`--${option} is needed.`);
  return value;
}

function choiceOf<Choice extends string>(option: OptionName, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((each) => each === text.toLowerCase());
  if (choice !== undefined) return choice;
  throw new UsageError(`--${option} is ${JSON.stringify(text)}, but must be one of ${choices.join(', ')}.`);
}

function numberOf(option: OptionName, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new UsageError(`--${option} is ${JSON.stringify(text)}, but must be a whole number.`);
}

function durationOf(option: OptionName, text: string): number {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds > 0) return seconds;
  throw new UsageError(`--${option} is ${JSON.stringify(text)}, but must be a duration such as 90s, 15m, 24h or 90d.`);
}

function instantIn(seconds: number): string {
  const instant = new Date(Date.now() + seconds * 1000);
  if (Number.isNaN(instant.getTime()) || instant.getUTCFullYear() > 9999) {
    throw new UsageError('--expires-in leads beyond the year 9999: leave it out for a key that never expires.');
  }
  return instant.toISOString();
}
