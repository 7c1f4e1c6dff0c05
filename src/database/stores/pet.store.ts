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
import { all, contains, isEveryStatus, oneOf } from '../sql/conditions.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { insertionOf, type Companion } from '../sql/insertion.ts';
import { hasOne, namedBy } from '../sql/selection.ts';
import type { Session } from '../../postgres/statement.ts';
import { TableReads } from '../sql/table-reads.ts';
import { TableWrites } from '../sql/table-writes.ts';

type InsertedPet = Parameters<PetStore['insert']>[0];

/** The tables of pets and of the stock items that are inserted with them. */
function petTables(metadata: MetadataStorage) {
  const table = new EntityTable(metadata.get(Pet));
  const inventory = new EntityTable(metadata.get(InventoryItem), { status: () => table.column('status') });
  const stockItem = <Value>(values: Readonly<Record<string, Value>>): Companion<Value> => ({
    table: inventory,
    owner: 'petId',
    values,
  });
  return { table, inventory, stockItem };
}

/** A new pet as SQL expressions for its properties, and for its stock's. */
type PetExpressions = { readonly id: string } & {
  readonly [Property in keyof InsertedPet]: Property extends 'inventory'
    ? Readonly<Record<keyof InsertedPet['inventory'], string>>
    : string;
};

/** The statement that inserts the pets which `from` generates, with their stock. It returns how many. */
export function bulkPetInsertion(
  metadata: MetadataStorage,
  { inventory, ...pet }: PetExpressions,
  from: string,
): string {
  const { table, stockItem } = petTables(metadata);
  const { write, companionWrites } = insertionOf(table, pet, [stockItem(inventory)], { rows: from });
  const writes = [`${table.name} as (${write} returning *)`, ...companionWrites];
  return `with ${writes.join(', ')} select count(*) from ${table.name}`;
}

export function createPetStore(metadata: MetadataStorage): (session: Session) => PetStore {
  const { table, inventory, stockItem } = petTables(metadata);
  const relations = {
    category: namedBy(table, 'categoryId', 'category', new EntityTable(metadata.get(Category))),
    inventory: hasOne(table, 'inventory', inventory, 'petId'),
  };
  const reads = new TableReads<PetRow, PetFilter, 'ID' | 'NAME', PetRelation>({
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
  });
  const writes = new TableWrites<PetRow, RowData<Pet>, PetRelation>(table, relations);
  return (session) => ({
    ...reads.in(session),
    ...writes.in(session),
    pagePerCategory: (ids, filter, keyset, include) => reads.pagePerParent(session, ids, filter, keyset, include),
    countPerCategory: (ids, filter) => reads.countPerParent(session, ids, filter),
    insert: ({ inventory: values, ...data }, include) =>
      writes.insert(session, data, include, [stockItem({ ...values })]),
  });
}
