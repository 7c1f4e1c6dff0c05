import type { MetadataStorage } from '@mikro-orm/core';

import { Category } from '../../domain/categories/category.entity.ts';
import {
  categorySorting,
  type CategoryFilter,
  type CategorySortField,
  type CategoryStore,
} from '../../domain/categories/category.store.ts';
import type { RowData } from '../../domain/store.ts';
import { contains } from '../sql/conditions.ts';
import { EntityTable } from '../sql/entity-table.ts';
import type { Session } from '../../platform/postgres/index.ts';
import { TableReads } from '../sql/table-reads.ts';
import { TableStore } from '../sql/table-store.ts';
import { TableWrites } from '../sql/table-writes.ts';

export function createCategoryStore(metadata: MetadataStorage): (session: Session) => CategoryStore {
  const table = new EntityTable(metadata.get(Category));
  const reads = new TableReads<Category, CategoryFilter, CategorySortField>({
    sorting: categorySorting,
    table,
    relations: {},
    from: table.name,
    id: table.column('id'),
    by: { ID: table.by('id'), NAME: table.by('name', 'id') },
    conditions: ({ nameContains }) => contains(table.column('name'), nameContains),
  });
  const writes = new TableWrites<Category, RowData<Category>>(table, {});
  return (session) => new TableStore(session, reads, writes);
}
