import type { Id } from '../id.ts';
import type { Sorting } from '../page.ts';
import type { BanRecord } from '../quota/bans.ts';
import type { Reads } from '../reads.ts';
import type { ApiKey } from './api-key.entity.ts';
import type { KeyHash } from './api-key.ts';
import type { KeptPlan } from './plan.ts';
import type { Scope } from './scope.ts';

type ListedProperty = Exclude<keyof ApiKey & string, 'sha256' | 'banEpoch' | 'automaticBans'>;

/** What administrators see of a key. */
export type ListedKey = { readonly [Property in ListedProperty]-?: Exclude<ApiKey[Property], undefined> };

export type ApiKeySortField = 'ID';

export const apiKeySorting: Sorting<ListedKey, ApiKeySortField> = {
  kind: 'apiKeys',
  idOf: (key) => key.id,
  keys: { ID: null },
  defaultField: 'ID',
};

/** Keys aren't filtered. */
export type ApiKeyReads = Reads<ListedKey, object, ApiKeySortField>;

/** A key as requests are judged by it. Instants are milliseconds since 1970. */
export interface KeyRecord extends KeptPlan {
  readonly id: Id;
  readonly sha256: KeyHash;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly bans: BanRecord;
}

/** A number that grows with every change of any key, in the order in which the changes can be seen. */
export type KeyVersion = string;

export interface KeyRecords {
  /**
   * The keys with these hashes and all that have changed since that version, as of one instant, which has the version `latest`.
   *
   * One statement. Throws UNAVAILABLE when the database can't be reached.
   */
  read(
    hashes: readonly KeyHash[],
    since: KeyVersion | undefined,
  ): Promise<{ readonly latest: KeyVersion; readonly keys: readonly KeyRecord[] }>;
}
