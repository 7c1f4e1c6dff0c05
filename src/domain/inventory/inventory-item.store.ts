import type { FilterFields, FilterOf } from '../filter.ts';
import type { Sorting } from '../page.ts';
import type { Pet, PetStatus } from '../pets/pet.entity.ts';
import type { Rule } from '../input.ts';
import { choiceRule, quantityBoundRule } from '../rules.ts';
import type { ReadStore, RowData, WriteStore } from '../store.ts';
import type { InventoryItem } from './inventory-item.entity.ts';

/** Undefined where every stock is as large: to test each row takes as long as any other filter. */
const leastQuantityRule: Rule<number, number | undefined> = (value, refuse) => {
  const bound = quantityBoundRule(value, refuse);
  return bound > 0 ? bound : undefined;
};

const inventoryFilter = {
  statusIn: { property: 'status', comparison: 'oneOf', rule: choiceRule<PetStatus>() },
  quantityAtLeast: { property: 'quantity', comparison: 'atLeast', rule: leastQuantityRule },
  quantityAtMost: { property: 'quantity', comparison: 'atMost', rule: quantityBoundRule },
} satisfies FilterFields<InventoryItem>;
export type InventoryFilter = FilterOf<typeof inventoryFilter>;

export type InventorySortField = 'PET_ID' | 'QUANTITY';
export const inventorySorting: Sorting<InventoryItem, InventorySortField> = {
  kind: 'inventory',
  idOf: (item) => item.petId,
  keys: { PET_ID: null, QUANTITY: { type: 'integer', property: 'quantity' } },
  defaultField: 'PET_ID',
};

export const inventoryList = { filter: inventoryFilter, sorting: inventorySorting };

export interface InventoryRelations {
  readonly pet: Pet;
}
export type InventoryRelation = keyof InventoryRelations;

/** An inventory item with the related rows that were included and exist. */
export type InventoryRow = InventoryItem & Partial<InventoryRelations>;

/** Its ids are the pets'. Items are inserted and deleted with their pets. */
export interface InventoryStore
  extends
    ReadStore<InventoryRow, typeof inventoryList, InventoryRelation>,
    Pick<
      WriteStore<InventoryRow, RowData<InventoryItem, 'petId' | 'status'>, InventoryRelation>,
      'update' | 'lock' | 'lockAll'
    > {}
