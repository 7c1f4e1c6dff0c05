import type { Sorting } from '../page.ts';
import type { ReadStore, RowData, WriteStore } from '../store.ts';
import type { ApiKey } from './api-key.entity.ts';

type ListedProperty = Exclude<keyof ApiKey & string, 'sha256' | 'previousSha256' | 'banEpoch' | 'automaticBans'>;

/** What administrators see of a key. */
export type ListedKey = { readonly [Property in ListedProperty]-?: Exclude<ApiKey[Property], undefined> };

export type ApiKeySortField = 'ID';

export const apiKeySorting: Sorting<ListedKey, ApiKeySortField> = {
  kind: 'apiKeys',
  idOf: (key) => key.id,
  keys: { ID: null },
  defaultField: 'ID',
};

/** Keys aren't filtered, and never deleted. */
export interface ApiKeyStore
  extends
    ReadStore<ListedKey, object, ApiKeySortField>,
    Pick<WriteStore<ApiKey, RowData<ApiKey>>, 'insert' | 'update' | 'lock'> {}
