import type { FilterFields } from '../filter.ts';
import type { Id } from '../id.ts';
import type { Rule } from '../input.ts';
import { sortedById } from '../page.ts';
import { choiceRule, instantRule, integerRule, searchTextRule } from '../rules.ts';
import type { ReadStore, RowData } from '../store.ts';
import { KeyRequest } from './key-request.entity.ts';
import type { KeyUse } from './key-use.entity.ts';

/** Codes of either protocol; what can't be one matches nothing. */
const codesRule: Rule<readonly string[], readonly string[]> = (values, refuse) =>
  choiceRule<string>()(values, refuse).filter((value) => /^\w{1,100}$/.test(value));

export const keyRequestFilter = {
  requestId: { property: 'requestId', comparison: 'equals', rule: searchTextRule },
  statusAtLeast: { property: 'status', comparison: 'atLeast', rule: integerRule(100, 599) },
  codeIn: { property: 'code', comparison: 'oneOf', rule: codesRule },
  operation: { property: 'operation', comparison: 'equals', rule: searchTextRule },
  since: { property: 'at', comparison: 'atLeast', rule: instantRule },
  until: { property: 'at', comparison: 'before', rule: instantRule },
} satisfies FilterFields<KeyRequest>;

export const keyRequestList = { filter: keyRequestFilter, sorting: sortedById(KeyRequest, 'keyRequests', {}) };

/** The counts of a period. */
export type Use = Readonly<Omit<KeyUse, 'keyId' | 'isDay' | 'startsAt'>>;

/** The use of a key within one hour, as a process has counted it. */
export interface HourOfUse extends Use {
  readonly keyId: Id;
  /** In milliseconds since 1970. */
  readonly startsAt: number;
}

/** Something deprecated that a request has used. */
export interface DeprecatedCoordinate {
  readonly coordinate: string;
  readonly sunset: Date;
}

/** How often a key has used it, at most that of one day. */
export interface DeprecatedUses extends DeprecatedCoordinate {
  readonly keyId: Id;
  readonly count: number;
  readonly lastUsedAt: Date;
}

/** The last key of a page of those that use something deprecated. */
interface DeprecatedUsePosition {
  readonly lastUsedAt: string;
  readonly keyId: Id;
}

/** What a process saves at once: under its number it counts once, however often it is sent. */
export interface RequestBatch {
  readonly number: number;
  readonly hours: readonly HourOfUse[];
  readonly uses: readonly DeprecatedUses[];
  readonly entries: readonly RowData<KeyRequest>[];
}

/** Which periods of a key: from an instant on, and before another one. */
export interface UseRange {
  readonly isDay: boolean;
  readonly since: Date;
  readonly until: Date;
}

export interface RequestStore {
  readonly entries: Pick<ReadStore<KeyRequest, typeof keyRequestList>, 'pagePerParent' | 'countPerParent'>;
  /** One statement. Throws UNAVAILABLE when it may not have been saved: then send it again. */
  save(writer: string, batch: RequestBatch): Promise<void>;
  /** Deletes all but the newest entries of these keys, so many. */
  trim(keyIds: readonly Id[], kept: number): Promise<void>;
  /** Deletes what is older: entries, hours and days. */
  deleteBefore(ends: { readonly entries: Date; readonly hours: Date; readonly days: Date }): Promise<void>;
  /** Replaces what its holder has sent in the entries of a key. */
  forget(keyId: Id, replacement: string): Promise<void>;
  /** What these keys have used since, of all coordinates. */
  deprecatedUsesOf(keyIds: readonly Id[], since: Date): Promise<DeprecatedUses[]>;
  /** The keys that have used it since, the latest first, so many after a position. */
  usersOf(coordinate: string, since: Date, limit: number, after?: DeprecatedUsePosition): Promise<DeprecatedUses[]>;
  /** Everything deprecated that was used since, by key. */
  allDeprecatedUses(since: Date): Promise<DeprecatedUses[]>;
  /** The periods that have requests, of all of these keys. */
  useOf(keyIds: readonly Id[], range: UseRange): Promise<KeyUse[]>;
}
