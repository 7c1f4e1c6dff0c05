import type { MetadataStorage } from '@mikro-orm/core';

import { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { Pet } from '../../domain/pets/pet.entity.ts';
import {
  petList,
  type PetRelation,
  type PetRelations,
  type PetRow,
  type PetStore,
} from '../../domain/pets/pet.store.ts';
import type { Include, RowData } from '../../domain/store.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { insertionOf, type Companion, type Values } from '../sql/insertion.ts';
import { listSource } from '../sql/list-source.ts';
import { hasOne, namedRelations } from '../sql/selection.ts';
import type { Session } from '../../platform/postgres/index.ts';
import { TableReads } from '../sql/table-reads.ts';
import { TableStore } from '../sql/table-store.ts';
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

export function createPetStore(metadata: MetadataStorage, maxWalked?: number): (session: Session) => PetStore {
  const { table, inventory, stockItem } = petTables(metadata);
  const relations = {
    ...namedRelations<Exclude<PetRelation, 'inventory'>>(metadata, 'pet', table),
    inventory: hasOne(table, 'inventory', inventory, 'petId'),
  };
  const source = listSource(table, petList, relations);
  const reads: PetReads = new TableReads(source, maxWalked);
  const writes: PetWrites = new TableWrites(table, relations);
  return (session) => new SessionPets(session, reads, writes, stockItem);
}

type PetReads = TableReads<PetRow, typeof petList, PetRelation>;
type PetWrites = TableWrites<PetRow, RowData<Pet>, PetRelation>;

class SessionPets extends TableStore<Pet, typeof petList, PetRelations> implements PetStore {
  readonly #stockItem: (values: Values) => Companion;

  constructor(session: Session, reads: PetReads, writes: PetWrites, stockItem: (values: Values) => Companion) {
    super(session, reads, writes);
    this.#stockItem = stockItem;
  }

  override insert({ inventory, ...data }: InsertedPet, include?: Include<PetRelation>): Promise<PetRow> {
    return this.writes.insert(this.session, data, include, [this.#stockItem({ ...inventory })]);
  }
}
