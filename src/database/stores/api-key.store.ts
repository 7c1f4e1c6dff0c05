import type { MetadataStorage } from '@mikro-orm/core';

import { ApiKey } from '../../domain/access/api-key.entity.ts';
import {
  apiKeySorting,
  type ApiKeyStore,
  type ApiKeySortField,
  type ListedKey,
} from '../../domain/access/api-key.store.ts';
import type { RowData } from '../../domain/store.ts';
import { EntityTable } from './entity-table.ts';
import type { Session } from './session.ts';
import { TableReads } from './table-reads.ts';
import { TableWrites } from './table-writes.ts';

/** What no administrator sees. */
const unlisted = ['sha256', 'previousSha256', 'banEpoch', 'automaticBans'] as const;

export function createApiKeyStore(metadata: MetadataStorage, session: Session): ApiKeyStore {
  const table = new EntityTable(metadata.get(ApiKey));
  const reads = new TableReads<ListedKey, object, ApiKeySortField>(
    {
      sorting: apiKeySorting,
      table: table.without(unlisted),
      relations: {},
      from: table.name,
      id: table.column('id'),
      by: { ID: table.by('id') },
      conditions: () => [],
    },
    session,
  );
  const writes = new TableWrites<ApiKey, RowData<ApiKey>>(table, {}, session);
  return {
    byIds: (ids) => reads.byIds(ids),
    page: (filter, keyset) => reads.page(filter, keyset),
    count: (filter) => reads.count(filter),
    insert: (data) => writes.insert(data),
    update: (id, changes) => writes.update(id, changes),
    lock: (id) => writes.lock(id),
  };
}

interface Columns {
  readonly column: (property: keyof ApiKey & string) => string;
  /** An instant, in milliseconds since 1970. */
  readonly millis: (property: keyof ApiKey & string) => string;
}

/** How statements for keys alone read a column. */
export function columnsOf(metadata: MetadataStorage): Columns {
  const table = new EntityTable(metadata.get(ApiKey));
  const column: Columns['column'] = (property) => table.column(property);
  return { column, millis: (property) => `(extract(epoch from ${column(property)}) * 1000)::float8` };
}
