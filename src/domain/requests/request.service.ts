import type { FilterRequest } from '../filter.ts';
import type { Id } from '../id.ts';
import { InputCheck } from '../input.ts';
import { earliestInstant } from '../instant.ts';
import { LatestFirst } from '../latest-first.ts';
import { pageOf, parseKeyset, type Page, type PageArguments, type Sorting } from '../page.ts';
import { instantRule, searchTextRule } from '../rules.ts';
import type { Stores } from '../stores.ts';
import type { KeyRequest } from './key-request.entity.ts';
import {
  type DeprecatedUses,
  type keyRequestFilter,
  keyRequestList,
  type Use,
  type UseRange,
} from './request.store.ts';

export type KeyRequestFilterRequest = FilterRequest<typeof keyRequestFilter>;

/** Which periods; the last 24 hours, or 30 days, unless said otherwise. */
export interface UsageRequest {
  /** RFC 3339. */
  readonly since?: string | null | undefined;
  readonly until?: string | null | undefined;
  readonly per?: PeriodName | null | undefined;
}

export type PeriodName = 'hour' | 'day';

/** What a key has used in one period, which begins then. */
export interface UsagePeriod extends Use {
  readonly startsAt: Date;
}

const hourMillis = 3_600_000;
const dayMillis = 24 * hourMillis;
const periodMillis: Readonly<Record<PeriodName, number>> = { hour: hourMillis, day: dayMillis };
const periodsByDefault: Readonly<Record<PeriodName, number>> = { hour: 24, day: 30 };
const maxPeriods = 400;

const kept = { entries: 7 * dayMillis, hours: 35 * dayMillis, days: 400 * dayMillis };

/** The entries that are kept of a key. */
export const maxEntries = 1_000;

const deprecatedMillis = 90 * dayMillis;

const usersSorting: Sorting<DeprecatedUses, 'LAST_USED'> = {
  kind: 'deprecatedUse',
  idOf: ({ keyId }) => keyId,
  keys: { LAST_USED: { type: 'instant', property: 'lastUsedAt' } },
  defaultField: 'LAST_USED',
};

export const unused: Use = {
  requests: 0,
  cost: 0,
  refusedByQuota: 0,
  refusedByBan: 0,
  clientErrors: 0,
  serverErrors: 0,
  writes: 0,
  deprecatedUses: 0,
  omitted: 0,
};

export class RequestService {
  readonly #stores: Pick<Stores, 'requests' | 'clock'>;

  constructor(stores: Pick<Stores, 'requests' | 'clock'>) {
    this.#stores = stores;
  }

  get entries(): LatestFirst<KeyRequest, typeof keyRequestList> {
    return new LatestFirst(this.#stores.requests.entries, { list: keyRequestList, property: 'keyId' });
  }

  /** How many requests of each key have no entry, in the hours for which entries are kept, or that are asked for. */
  async omittedPerKey(keyIds: readonly Id[], filter?: KeyRequestFilterRequest | null): Promise<number[]> {
    const check = new InputCheck();
    const now = this.#stores.clock.now();
    const since = check.optional('filter.since', filter?.since, instantRule) ?? new Date(now - kept.entries);
    const until = check.optional('filter.until', filter?.until, instantRule) ?? new Date(now + hourMillis);
    check.throwIfRefused();
    const range = { isDay: false, since: new Date(floor(since.getTime(), hourMillis)), until };
    const periods = await this.#stores.requests.useOf(keyIds, range);
    return keyIds.map((keyId) =>
      periods.reduce((sum, period) => sum + (period.keyId === keyId ? period.omitted : 0), 0),
    );
  }

  /** The periods of each key, oldest first, those without requests included. Throws VALIDATION_FAILED beyond 400. */
  async usagePerKey(keyIds: readonly Id[], request: UsageRequest): Promise<UsagePeriod[][]> {
    const range = this.#rangeOf(request);
    const step = range.isDay ? dayMillis : hourMillis;
    const rows = new Map(
      (await this.#stores.requests.useOf(keyIds, range)).map((row) => [`${row.keyId} ${row.startsAt.getTime()}`, row]),
    );
    const starts: number[] = [];
    for (let start = range.since.getTime(); start < range.until.getTime(); start += step) starts.push(start);
    return keyIds.map((keyId) =>
      starts.map((start): UsagePeriod => rows.get(`${keyId} ${start}`) ?? unusedFrom(start)),
    );
  }

  async deprecatedUsesPerKey(keyIds: readonly Id[]): Promise<DeprecatedUses[][]> {
    const uses = await this.#stores.requests.deprecatedUsesOf(keyIds, this.#deprecatedSince());
    return keyIds.map((keyId) => uses.filter((use) => use.keyId === keyId));
  }

  /** The same of all keys, by coordinate. */
  listDeprecatedUses(): Promise<DeprecatedUses[]> {
    return this.#stores.requests.allDeprecatedUses(this.#deprecatedSince());
  }

  /** Which keys have used it in the last 90 days, the latest first. */
  async listUsersOf(coordinate: string, { first, after }: PageArguments): Promise<Page<DeprecatedUses>> {
    const check = new InputCheck();
    const orderBy = { field: 'LAST_USED', direction: 'desc' } as const;
    const keyset = parseKeyset(usersSorting, { first, after, orderBy }, check);
    check.required('coordinate', coordinate, searchTextRule);
    check.throwIfRefused();
    const { value, id } = keyset.after ?? {};
    const position = id === undefined ? undefined : { lastUsedAt: new Date(Number(value)).toISOString(), keyId: id };
    const since = this.#deprecatedSince();
    const rows = await this.#stores.requests.usersOf(coordinate, since, keyset.limit + 1, position);
    return pageOf(usersSorting, keyset, { rows: rows.slice(0, keyset.limit), hasMore: rows.length > keyset.limit });
  }

  #deprecatedSince(): Date {
    return new Date(this.#stores.clock.now() - deprecatedMillis);
  }

  async deleteOld(): Promise<void> {
    const now = this.#stores.clock.now();
    const before = (millis: number): Date => new Date(now - millis);
    await this.#stores.requests.deleteBefore({
      entries: before(kept.entries),
      hours: before(kept.hours),
      days: before(kept.days),
    });
  }

  #rangeOf({ since: sentSince, until: sentUntil, per }: UsageRequest): UseRange {
    const check = new InputCheck();
    const name = per ?? 'hour';
    const step = periodMillis[name];
    const until = check.optional('until', sentUntil, instantRule) ?? new Date(this.#stores.clock.now() + 1);
    const earliest = floor(until.getTime() - 1, step) - (periodsByDefault[name] - 1) * step;
    const since = check.optional('since', sentSince, instantRule) ?? new Date(Math.max(earliest, earliestInstant));
    const start = floor(since.getTime(), step);
    if (since > until) check.refuse('since', 'must not be later than until.');
    const count = Math.ceil((until.getTime() - start) / step);
    if (count > maxPeriods) {
      check.refuse(
        'since',
        `must be at most ${maxPeriods} ${name}s before until, not ${count}: ask for fewer at a time.`,
      );
    }
    check.throwIfRefused();
    return { isDay: name === 'day', since: new Date(start), until };
  }
}

function unusedFrom(start: number): UsagePeriod {
  return { ...unused, startsAt: new Date(start) };
}

function floor(millis: number, step: number): number {
  return Math.floor(millis / step) * step;
}
