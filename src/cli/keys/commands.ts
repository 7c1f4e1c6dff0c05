import type { AccessService, CreatedKey } from '../../domain/access/access.service.ts';
import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { usageOf } from '../../domain/access/key-status.ts';
import type { PlanInput } from '../../domain/access/plan.ts';
import type { RequestService } from '../../domain/requests/request.service.ts';
import { allOf, command, type Command, onlyOf, type Output } from '../command-line.ts';
import { historyOf } from '../history.ts';
import { needed, UsageError, type ValuesOf } from '../options.ts';
import {
  expiresIn,
  name,
  nearLimit,
  onlyRefused,
  overlap,
  per,
  perDay,
  perMinute,
  plan,
  requestId,
  scopes,
  since,
  sort,
  span,
  withUsage,
} from './options.ts';
import { describeKey, keyAsJson, keyDetails, keyTable } from './output.ts';
import { deprecatedTable, periodAsJson, useAsJson, requestAsJson, requestTable, usageTable } from './request-output.ts';

interface KeyServices {
  readonly access: AccessService;
  readonly requests: RequestService;
}

const planOptions = { plan: needed(plan), 'per-minute': perMinute, 'per-day': perDay };

export const commands: Readonly<Record<string, Command<KeyServices>>> = {
  create: command({
    summary: 'Creates a key and prints it; it cannot be shown again',
    options: { name: needed(name), ...planOptions, scopes, 'expires-in': expiresIn },
    run: async ({ access }: KeyServices, given, now) =>
      withSecret(
        await access.create({
          name: given.name,
          ...planOf(given),
          scopes: given.scopes,
          expiresAt: expiryOf(given['expires-in'], now),
        }),
        now,
      ),
  }),
  list: command({
    summary: 'Lists all keys, with their usage, those near their limit, or those first that have spent most of the day',
    options: { usage: withUsage, 'near-limit': nearLimit, sort },
    run: async ({ access }: KeyServices, { usage, sort: order, 'near-limit': nearLimitPercent }, now) => {
      const listed = await allOf((page) => access.list({ ...page, filter: { nearLimitPercent } }));
      const keys = order === 'spent' ? bySpent(listed, now) : listed;
      const showsUsage = usage === true || nearLimitPercent !== undefined || order === 'spent';
      return { text: keyTable(keys, showsUsage, now), json: keys.map((key) => keyAsJson(key, now)) };
    },
  }),
  show: command({
    summary: 'Shows a key with its usage',
    id: 'needed',
    run: async ({ access }: KeyServices, { id }, now) => {
      const key = await access.get(id);
      return { text: keyDetails(key, now), json: keyAsJson(key, now) };
    },
  }),
  history: command({
    summary: 'Shows the changes of a key, when and by whom, latest first',
    id: 'needed',
    run: ({ access }: KeyServices, { id }) => historyOf(access, id),
  }),
  requests: command({
    summary: 'Shows the latest requests of a key, those that its quota or a ban has refused, or one',
    id: 'needed',
    options: { refused: onlyRefused, request: requestId },
    run: async ({ access, requests }: KeyServices, { id, refused, request }) => {
      const key = await access.get(id);
      const filter = { codeIn: refused === true ? refusals : undefined, requestId: request };
      const entries = await allOf(async (page) =>
        onlyOf(await requests.entries.listPerParent([key.id], { ...page, filter })),
      );
      const omitted = onlyOf(await requests.omittedPerKey([key.id]));
      return { text: requestTable(entries, omitted), json: { requests: entries.map(requestAsJson), omitted } };
    },
  }),
  usage: command({
    summary: 'Shows how much a key was used in each hour of the last day, or each day of the last 30',
    id: 'needed',
    options: { per, since },
    run: async ({ access, requests }: KeyServices, { id, per: period, since: seconds }, now) => {
      const key = await access.get(id);
      const start = seconds === undefined ? undefined : new Date(now - seconds * 1000).toISOString();
      const periods = onlyOf(await requests.usagePerKey([key.id], { per: period, since: start }));
      return { text: usageTable(periods), json: periods.map(periodAsJson) };
    },
  }),
  deprecated: command({
    summary: 'Shows what is deprecated and still used: its sunset, by which keys, when last, how often in 90 days',
    run: async ({ access, requests }: KeyServices) => {
      const uses = await requests.listDeprecatedUses();
      const keys = await access.findMany(uses.map(({ keyId }) => keyId));
      const names = keys.map((key) => key?.name);
      return { text: deprecatedTable(uses, names), json: uses.map((use, index) => useAsJson(use, names[index])) };
    },
  }),
  update: command({
    summary: 'Changes the name, the scopes or the expiry of a key',
    id: 'needed',
    options: { name, scopes, 'expires-in': expiresIn },
    needsOption: true,
    run: async ({ access }: KeyServices, { id, 'expires-in': life, ...changes }, now) =>
      changed(
        await access.update(id, { name: changes.name, scopes: changes.scopes, expiresAt: expiryOf(life, now) }),
        now,
      ),
  }),
  rotate: command({
    summary:
      'Gives a key a new secret and prints it; it cannot be shown again, and the old one stays valid for the overlap',
    id: 'needed',
    options: { overlap },
    run: async ({ access }: KeyServices, { id, overlap: seconds }, now) =>
      withSecret(await access.rotate(id, seconds), now),
  }),
  revoke: command({
    summary: 'Revokes a key permanently',
    id: 'needed',
    run: async ({ access }: KeyServices, { id }, now) => changed(await access.revoke(id), now),
  }),
  forget: command({
    summary:
      'Replaces the name of a revoked key, in its history too, and what its holder has sent in the entries of its requests; it cannot be undone',
    id: 'needed',
    run: async ({ access }: KeyServices, { id }, now) => ({
      ...changed(await access.forget(id), now),
      note: "This can't be undone. Log lines and backups still have what they had.",
    }),
  }),
  ban: command({
    summary: 'Bans a key for a while',
    id: 'needed',
    options: { for: needed(span) },
    run: async ({ access }: KeyServices, { id, for: seconds }, now) => changed(await access.ban(id, seconds), now),
  }),
  unban: command({
    summary: 'Ends a ban, and resets earlier bans and refusals',
    id: 'needed',
    run: async ({ access }: KeyServices, { id }, now) => changed(await access.unban(id), now),
  }),
  'set-plan': command({
    summary: 'Changes the plan of a key; its usage stays',
    id: 'needed',
    options: planOptions,
    run: async ({ access }: KeyServices, { id, ...given }, now) =>
      changed(await access.setPlan(id, planOf(given)), now),
  }),
};

const refusals = ['rate_limited', 'RATE_LIMITED', 'key_banned', 'KEY_BANNED'];

function withSecret({ apiKey, secret }: CreatedKey, now: number): Output {
  return {
    text: secret,
    note: `${describeKey(apiKey, now)} Keep the key safe: it can't be shown again.`,
    json: { ...keyAsJson(apiKey, now), secret },
  };
}

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

function planOf(given: ValuesOf<typeof planOptions>): PlanInput {
  return { plan: given.plan, requestsPerMinute: given['per-minute'], requestsPerDay: given['per-day'] };
}

function expiryOf(life: number | null | undefined, now: number): string | null | undefined {
  if (life === undefined || life === null) return life;
  const instant = new Date(now + life * 1000);
  if (Number.isNaN(instant.getTime()) || instant.getUTCFullYear() > 9999) {
    throw new UsageError('--expires-in leads beyond the year 9999: use never for a key that never expires.');
  }
  return instant.toISOString();
}
