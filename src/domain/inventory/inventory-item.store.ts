import type { Sorting } from '../page.ts';
import type { Pet, PetStatus } from '../pets/pet.entity.ts';
import type { ReadStore, RowData, WriteStore } from '../store.ts';
import type { InventoryItem } from './inventory-item.entity.ts';

/** An unset property doesn't filter; an empty list matches nothing. */
export interface InventoryFilter {
  readonly statusIn?: readonly PetStatus[] | undefined;
  /** Inclusive. */
  readonly quantityAtLeast?: number | undefined;
  /** Inclusive. */
  readonly quantityAtMost?: number | undefined;
}

const inventorySortFields = ['PET_ID', 'QUANTITY'] as const;
export type InventorySortField = (typeof inventorySortFields)[number];

export const inventorySorting: Sorting<InventoryItem, InventorySortField> = {
  kind: 'inventory',
  idOf: (item) => item.petId,
  keys: { PET_ID: null, QUANTITY: { type: 'integer', valueOf: (item) => item.quantity } },
  defaultField: 'PET_ID',
};

interface InventoryRelations {
  readonly pet: Pet;
}
export type InventoryRelation = keyof InventoryRelations;
export const inventoryRelations = ['pet'] as const satisfies readonly InventoryRelation[];

/** An inventory item with the related rows that were included and exist. */
export type InventoryRow = InventoryItem & Partial<InventoryRelations>;

/** Its ids are the pets'. Items are inserted and deleted with their pets. */
export interface InventoryStore
  extends
    ReadStore<InventoryRow, InventoryFilter, InventorySortField, InventoryRelation>,
    Pick<
      WriteStore<InventoryRow, RowData<InventoryItem, 'petId' | 'status'>, InventoryRelation>,
      'update' | 'lock' | 'lockAll'
    > {}
