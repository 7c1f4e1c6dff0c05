import type { MetadataStorage } from '@mikro-orm/core';

import { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import {
  inventoryList,
  type InventoryFilter,
  type InventoryRelation,
  type InventoryRelations,
  type InventoryRow,
  type InventoryStore,
} from '../../domain/inventory/inventory-item.store.ts';
import { Pet, type PetStatus } from '../../domain/pets/pet.entity.ts';
import type { RowData } from '../../domain/store.ts';
import { oneOf, servedBy, type Conditions } from '../sql/conditions.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { listSource } from '../sql/list-source.ts';
import { namedRelations } from '../sql/selection.ts';
import type { Session } from '../../platform/postgres/index.ts';
import { TableReads, type Source } from '../sql/table-reads.ts';
import { TableStore } from '../sql/table-store.ts';
import { TableWrites } from '../sql/table-writes.ts';

type InventorySource = Source<typeof inventoryList, InventoryRelation>;

export function createInventoryStore(
  metadata: MetadataStorage,
  maxWalked?: number,
): (session: Session) => InventoryStore {
  const pet = new EntityTable(metadata.get(Pet));
  /** An item's status is its pet's. */
  const status = (item: string): string =>
    `(select owner.${pet.columnName('status')} from ${pet.name} as owner where owner.${pet.columnName('id')} = ${item}.${table.columnName('petId')})`;
  const table: EntityTable = new EntityTable(metadata.get(InventoryItem), { status });
  const withPet = new EntityTable(metadata.get(InventoryItem), { status: (item) => `${item}.status` });
  const relations = namedRelations<InventoryRelation>(metadata, 'inventory', table);
  const sourceWith = (statusIn: (statuses: readonly PetStatus[]) => Conditions): InventorySource =>
    listSource(table, inventoryList, relations, { statusIn: ({ statusIn: statuses = [] }) => statusIn(statuses) });
  const unfiltered = sourceWith(() => []);
  // The pet's own id, so that the index of pets by status serves the order.
  const ownerId = `${table.name}.owner_id`;
  const byStatus: InventorySource = {
    ...sourceWith((statuses) => servedBy(ownerId, oneOf(`${table.name}.status`, statuses, 'text'))),
    table: withPet,
    from: `(select ${table.name}.*, ${pet.column('id')} as owner_id, ${pet.column('status')} as status
      from ${pet.name} join ${table.name} on ${table.column('petId')} = ${pet.column('id')}) as ${table.name}`,
    by: {
      ...unfiltered.by,
      PET_ID: [{ ...table.sortColumn('petId'), column: ownerId, joined: table.column('petId') }],
    },
    lookUpsPerRow: 5,
  };
  const reads: InventoryReads = new TableReads(unfiltered, maxWalked);
  const readsByStatus: InventoryReads = new TableReads(byStatus, maxWalked);
  // Every pet has an item, so counting needs no join.
  const countsByStatus: InventoryReads = new TableReads({
    ...sourceWith((statuses) => oneOf(pet.column('status'), statuses, 'text')),
    from: pet.name,
  });
  const writes: InventoryWrites = new TableWrites(table, relations);
  const hasStatus = ({ statusIn }: InventoryFilter): boolean =>
    statusIn !== undefined && !table.isAlwaysOneOf('status', statusIn);
  const readsFor: ReadsFor = {
    page: (filter) => (hasStatus(filter) ? readsByStatus : reads),
    count: (filter) => {
      if (!hasStatus(filter)) return reads;
      return filter.quantityAtLeast === undefined && filter.quantityAtMost === undefined
        ? countsByStatus
        : readsByStatus;
    },
  };
  return (session) => new SessionInventory(session, reads, writes, readsFor);
}

type InventoryReads = TableReads<InventoryRow, typeof inventoryList, InventoryRelation>;
type InventoryWrites = TableWrites<InventoryRow, RowData<InventoryItem>, InventoryRelation>;
type ReadsFor = Readonly<Record<'page' | 'count', (filter: InventoryFilter) => InventoryReads>>;

class SessionInventory
  extends TableStore<InventoryItem, typeof inventoryList, InventoryRelations>
  implements InventoryStore
{
  readonly #readsFor: ReadsFor;

  constructor(session: Session, reads: InventoryReads, writes: InventoryWrites, readsFor: ReadsFor) {
    super(session, reads, writes);
    this.#readsFor = readsFor;
  }

  override count(filter: InventoryFilter): Promise<number> {
    return this.#readsFor.count(filter).count(this.session, filter);
  }

  protected override listsOf(filter: InventoryFilter): InventoryReads {
    return this.#readsFor.page(filter);
  }
}
