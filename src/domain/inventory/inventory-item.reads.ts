import type { Sorting } from '../page.ts';
import type { PetStatus } from '../pets/pet.entity.ts';
import type { Reads } from '../reads.ts';
import type { InventoryItem } from './inventory-item.entity.ts';

/** What is left out, or undefined, doesn't filter; an empty list matches nothing. */
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

/** Its ids are the pets'. */
export type InventoryReads = Reads<InventoryItem, InventoryFilter, InventorySortField>;
