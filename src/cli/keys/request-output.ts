import type { KeyRequest } from '../../domain/requests/key-request.entity.ts';
import type { UsagePeriod } from '../../domain/requests/request.service.ts';
import type { DeprecatedUses } from '../../domain/requests/request.store.ts';
import { figure, shown, table } from '../text-table.ts';

const barCharacters = 30;

/** The requests of a key, a line each, and how many have none. */
export function requestTable(requests: readonly KeyRequest[], omitted: number): string {
  const rows = requests.map((request) => [
    shown(request.at),
    request.operation,
    String(request.status),
    request.code ?? '',
    refusalOf(request),
    figure(request.cost),
    figure(request.durationMillis),
    request.address ?? '',
    [request.clientName ?? request.userAgent, request.clientVersion].filter(Boolean).join(' '),
    request.requestId,
  ]);
  const names = ['AT', 'OPERATION', 'STATUS', 'CODE', 'REFUSED BY', 'COST', 'MS', 'ADDRESS', 'CLIENT', 'REQUEST'];
  return `${table(names, rows)}\n${figure(omitted)} requests of the last 7 days have no entry.`;
}

export function requestAsJson({ quotaLimit: limit, ...request }: KeyRequest): object {
  return { ...request, limit, id: undefined, keyId: undefined };
}

export function periodAsJson(period: UsagePeriod): object {
  return { ...period, keyId: undefined, isDay: undefined };
}

export function usageTable(periods: readonly UsagePeriod[]): string {
  const most = Math.max(1, ...periods.map(({ requests }) => requests));
  const rows = periods.map((period) => [
    shown(period.startsAt),
    figure(period.requests),
    figure(period.cost),
    figure(period.refusedByQuota),
    figure(period.refusedByBan),
    figure(period.clientErrors),
    figure(period.serverErrors),
    figure(period.writes),
    '█'.repeat(Math.ceil((period.requests / most) * barCharacters)),
  ]);
  return table(['FROM', 'REQUESTS', 'COST', 'BY QUOTA', 'BY BAN', 'FROM 400', 'FROM 500', 'WRITES', ''], rows);
}

export function deprecatedTable(uses: readonly DeprecatedUses[], names: readonly (string | undefined)[]): string {
  const rows = uses.map((use, index) => [
    use.coordinate,
    use.sunset.toISOString().slice(0, 10),
    use.keyId,
    names[index] ?? '',
    shown(use.lastUsedAt),
    figure(use.count),
  ]);
  return table(['DEPRECATED', 'SUNSET', 'ID', 'NAME', 'LAST USED', 'USES'], rows);
}

export function useAsJson(use: DeprecatedUses, keyName: string | undefined): object {
  return { ...use, keyName };
}

function refusalOf({ refusedBy, quotaLimit, retryAfter }: KeyRequest): string {
  if (typeof retryAfter !== 'number') return '';
  const window = refusedBy ? `${refusedBy} (${figure(quotaLimit ?? 0)})` : 'ban';
  return `${window}, ${figure(retryAfter)} s`;
}
