import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { lastUsedAt, statusOf, usageOf, type WindowUsage } from '../../domain/access/key-status.ts';
import { limitsOf } from '../../domain/access/plan.ts';
import { details, figure, printable, shown, table } from '../text-table.ts';

/** A key in JSON, with its effective figures. */
export function keyAsJson(key: ListedKey, now: number): object {
  const { id, name, plan, scopes, prefix, createdAt, expiresAt, bannedUntil, revokedAt, previousSecretExpiresAt } = key;
  return {
    id,
    name,
    plan,
    ...limitsOf(key),
    scopes,
    prefix,
    status: statusOf(key, now),
    createdAt,
    expiresAt,
    bannedUntil,
    revokedAt,
    previousSecretExpiresAt,
    lastUsedAt: lastUsedAt(key),
    usage: usageOf(key, now),
  };
}

export function describeKey(key: ListedKey, now: number): string {
  const [id, name, plan, perMinute, perDay, scopes, , state] = rowOf(key, now).map(printable);
  return `Key ${id} (${name}): ${plan}, ${perMinute} requests per minute and ${perDay} per day, ${scopes}, ${state}.`;
}

export function keyDetails(key: ListedKey, now: number): string {
  const { createdAt, previousSecretExpiresAt } = key;
  const { minute, day } = usageOf(key, now);
  return details([
    ...headings.map((heading, index) => [heading, rowOf(key, now)[index] ?? ''] as const),
    ['CREATED', shown(createdAt)],
    ['OLD SECRET', previousSecretExpiresAt === null ? 'none' : `valid until ${shown(previousSecretExpiresAt)}`],
    ['LAST USED', lastUseOf(key)],
    ['MINUTE', `${spentOf(minute)}, resets ${shown(minute.resetAt)}`],
    ['DAY', `${spentOf(day)}, resets ${shown(day.resetAt)}`],
  ]);
}

export function keyTable(keys: readonly ListedKey[], withUsage: boolean, now: number): string {
  const usageHeadings = withUsage ? ['MINUTE', 'DAY', 'LAST USED'] : [];
  const usageCells = (key: ListedKey): string[] => {
    const { minute, day } = usageOf(key, now);
    return withUsage ? [spentOf(minute), spentOf(day), lastUseOf(key)] : [];
  };
  return table(
    [...headings, ...usageHeadings],
    keys.map((key) => [...rowOf(key, now), ...usageCells(key)]),
  );
}

const headings = ['ID', 'NAME', 'PLAN', 'PER MINUTE', 'PER DAY', 'SCOPES', 'PREFIX', 'STATE'];

function rowOf(key: ListedKey, now: number): string[] {
  const { requestsPerMinute, requestsPerDay } = limitsOf(key);
  return [
    key.id,
    key.name,
    key.plan,
    figure(requestsPerMinute),
    figure(requestsPerDay),
    key.scopes.join(','),
    key.prefix,
    stateOf(key, now),
  ];
}

function stateOf(key: ListedKey, now: number): string {
  const { revokedAt, expiresAt, bannedUntil } = key;
  switch (statusOf(key, now)) {
    case 'revoked':
      return `revoked ${shown(revokedAt)}`;
    case 'expired':
      return `expired ${shown(expiresAt)}`;
    case 'banned':
      return `banned until ${shown(bannedUntil)}`;
    case 'active':
      return expiresAt === null ? 'active' : `active until ${shown(expiresAt)}`;
  }
}

function spentOf({ spent, limit }: WindowUsage): string {
  return `${figure(spent)}/${figure(limit)}`;
}

function lastUseOf(key: ListedKey): string {
  return lastUsedAt(key) === null ? 'never' : shown(lastUsedAt(key));
}
