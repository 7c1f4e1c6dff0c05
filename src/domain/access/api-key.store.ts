import type { FilterFields } from '../filter.ts';
import type { Id } from '../id.ts';
import { sortedById, type Sorting } from '../page.ts';
import { anyRule, integerRule, searchTextRule } from '../rules.ts';
import type { ReadStore, RowData, WriteStore } from '../store.ts';
import { ApiKeyChange } from './api-key-change.entity.ts';
import type { ApiKeyUsage } from './api-key-usage.entity.ts';
import type { ApiKey } from './api-key.entity.ts';
import type { PlanName } from './plan.ts';

type ListedProperty = Exclude<keyof ApiKey & string, 'sha256' | 'previousSha256' | 'banEpoch' | 'automaticBans'>;

/** A key as administrators see it. */
export type ListedKey = { readonly [Property in ListedProperty]-?: Exclude<ApiKey[Property], undefined> } & {
  /** Undefined when it was never used, or not loaded. */
  readonly usage?: ApiKeyUsage | undefined;
};

export type ApiKeyRelation = 'usage';

export type KeyStatus = 'active' | 'banned' | 'expired' | 'revoked';

export const apiKeyFilter = {
  nameContains: { property: 'name', comparison: 'contains', rule: searchTextRule },
  plan: { property: 'plan', comparison: 'equals', rule: anyRule<PlanName>() },
  status: { rule: anyRule<KeyStatus>() },
  /** Keys that have spent so much of their minute or of their day. */
  nearLimitPercent: { rule: integerRule(1, 100) },
  /** The instant for status and windows, in milliseconds since 1970: the service's, not the client's. */
  at: { rule: anyRule<number>() },
} satisfies FilterFields<ApiKey>;

export type ApiKeySortField = 'ID';

export const apiKeySorting: Sorting<ListedKey, ApiKeySortField> = {
  kind: 'apiKeys',
  idOf: (key) => key.id,
  keys: { ID: null },
  defaultField: 'ID',
};

export const apiKeyList = { filter: apiKeyFilter, sorting: apiKeySorting };

export const historyList = { filter: {}, sorting: sortedById(ApiKeyChange, 'apiKeyHistory', {}) };

/** Keys are never deleted by the program. */
export interface ApiKeyStore
  extends ReadStore<ListedKey, typeof apiKeyList, ApiKeyRelation>, Pick<WriteStore<ApiKey, RowData<ApiKey>>, 'lock'> {
  readonly history: Pick<ReadStore<ApiKeyChange, typeof historyList>, 'pagePerParent' | 'countPerParent'>;
  /** Returns its id. */
  insert(row: RowData<ApiKey>): Promise<Id>;
  update(id: Id, changes: Partial<RowData<ApiKey>>): Promise<void>;
  /** Replaces the names in the history of a key, whose latest entry is that of this. */
  forgetNames(id: Id, replacement: string): Promise<void>;
}
