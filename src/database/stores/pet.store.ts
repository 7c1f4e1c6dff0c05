import type { MetadataStorage } from '@mikro-orm/core';

import { Category } from '../../domain/categories/category.entity.ts';
import { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { Pet } from '../../domain/pets/pet.entity.ts';
import {
  petSorting,
  type PetFilter,
  type PetRelation,
  type PetRow,
  type PetStore,
} from '../../domain/pets/pet.store.ts';
import type { RowData } from '../../domain/store.ts';
import { all, contains, isEveryStatus, oneOf } from './conditions.ts';
import { EntityTable } from './entity-table.ts';
import { hasOne, namedBy } from './selection.ts';
import type { Session } from './session.ts';
import { TableReads } from './table-reads.ts';
import { TableWrites } from './table-writes.ts';

export function createPetStore(metadata: MetadataStorage, session: Session): PetStore {
  const table = new EntityTable(metadata.get(Pet));
  const inventory = new EntityTable(metadata.get(InventoryItem), { status: () => table.column('status') });
  const relations = {
    category: namedBy(table, 'categoryId', 'category', new EntityTable(metadata.get(Category))),
    inventory: hasOne(table, 'inventory', inventory, 'petId'),
  };
  const reads = new TableReads<PetRow, PetFilter, 'ID' | 'NAME', PetRelation>(
    {
      sorting: petSorting,
      table,
      relations,
      from: table.name,
      id: table.column('id'),
      by: { ID: table.by('id'), NAME: table.by('name', 'id') },
      parent: table.column('categoryId'),
      conditions: ({ statusIn, categoryIdIn, nameContains }) =>
        all(
          oneOf(table.column('status'), isEveryStatus(statusIn) ? undefined : statusIn, 'text'),
          oneOf(table.column('categoryId'), categoryIdIn, 'bigint'),
          contains(table.column('name'), nameContains),
        ),
    },
    session,
  );
  const writes = new TableWrites<PetRow, RowData<Pet>, PetRelation>(table, relations, session);
  return {
    byIds: (ids, include) => reads.byIds(ids, include),
    page: (filter, keyset, include) => reads.page(filter, keyset, include),
    count: (filter) => reads.count(filter),
    pagePerCategory: (ids, filter, keyset, include) => reads.pagePerParent(ids, filter, keyset, include),
    countPerCategory: (ids, filter) => reads.countPerParent(ids, filter),
    insert: ({ inventory: values, ...data }, include) =>
      writes.insert(data, include, [{ table: inventory, owner: 'petId', values: { ...values } }]),
    update: (id, changes, include) => writes.update(id, changes, include),
    lock: (id) => writes.lock(id),
    delete: (id) => writes.delete(id),
  };
}
