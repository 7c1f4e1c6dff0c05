import type { MetadataStorage } from '@mikro-orm/core';

import { Category } from '../../domain/categories/category.entity.ts';
import { categoryList, type CategoryStore } from '../../domain/categories/category.store.ts';
import type { RowData } from '../../domain/store.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { listSource } from '../sql/list-source.ts';
import type { Session } from '../../platform/postgres/index.ts';
import { TableReads } from '../sql/table-reads.ts';
import { TableStore } from '../sql/table-store.ts';
import { TableWrites } from '../sql/table-writes.ts';

export function createCategoryStore(
  metadata: MetadataStorage,
  maxWalked?: number,
): (session: Session) => CategoryStore {
  const table = new EntityTable(metadata.get(Category));
  const reads = new TableReads<Category, typeof categoryList>(listSource(table, categoryList, {}), maxWalked);
  const writes = new TableWrites<Category, RowData<Category>>(table, {});
  return (session) => new TableStore<Category, typeof categoryList>(session, reads, writes);
}
