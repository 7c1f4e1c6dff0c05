import type { ListedKey } from '../../domain/access/api-key.store.ts';
import { limitsOf } from '../../domain/access/plan.ts';

/** What a command says: to people or, with `--json`, to programs. */
export interface Output {
  /** For standard output. */
  readonly text: string;
  /** For standard error, so that what programs read stays alone. */
  readonly note?: string;
  readonly json: unknown;
}

/** A key as programs get it, with the figures that hold for it. */
export function keyAsJson(key: ListedKey): object {
  const { id, name, plan, scopes, prefix, createdAt, expiresAt, bannedUntil, revokedAt } = key;
  return { id, name, plan, ...limitsOf(key), scopes, prefix, createdAt, expiresAt, bannedUntil, revokedAt };
}

/** One line about one key. */
export function describeKey(key: ListedKey): string {
  const [id, name, plan, perMinute, perDay, scopes, , state] = rowOf(key);
  return `Key ${id} (${name}): ${plan}, ${perMinute} requests per minute and ${perDay} per day, ${scopes}, ${state}.`;
}

const headings = ['ID', 'NAME', 'PLAN', 'PER MINUTE', 'PER DAY', 'SCOPES', 'PREFIX', 'STATE'];
const rightAligned = new Set(['ID', 'PER MINUTE', 'PER DAY']);

/** All keys, a line each. */
export function keyTable(keys: readonly ListedKey[]): string {
  const rows = [headings, ...keys.map(rowOf)];
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (text: string, column: number): string => {
    const width = widths[column] ?? 0;
    return rightAligned.has(headings[column] ?? '') ? text.padStart(width) : text.padEnd(width);
  };
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

function rowOf(key: ListedKey): string[] {
  const { requestsPerMinute, requestsPerDay } = limitsOf(key);
  const figures = [requestsPerMinute, requestsPerDay].map((figure) => figure.toLocaleString('en-US'));
  return [key.id, key.name, key.plan, ...figures, key.scopes.join(','), key.prefix, stateOf(key)];
}

function stateOf({ revokedAt, expiresAt, bannedUntil }: ListedKey): string {
  const now = new Date();
  if (revokedAt !== null) return `revoked ${shown(revokedAt)}`;
  if (expiresAt !== null && expiresAt <= now) return `expired ${shown(expiresAt)}`;
  if (bannedUntil !== null && bannedUntil > now) return `banned until ${shown(bannedUntil)}`;
  return expiresAt === null ? 'active' : `active until ${shown(expiresAt)}`;
}

function shown(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`;
}
