import type { Id } from '../id.ts';
import { InputCheck } from '../input.ts';
import { NounService } from '../noun.service.ts';
import { updateById } from '../rows.ts';
import { stockQuantityRule } from '../rules.ts';
import type { UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import { InventoryItem, inventoryItemRepresentation } from './inventory-item.entity.ts';
import {
  inventoryFilter,
  inventorySorting,
  type InventoryRelation,
  type InventoryRow,
  type InventorySortField,
  type InventoryStore,
} from './inventory-item.store.ts';

export interface InventoryChanges {
  readonly quantity: number;
}

export const inventoryKind = {
  noun: 'inventory item',
  entity: InventoryItem,
  storeOf: (stores: Stores): InventoryStore => stores.inventory,
  representation: inventoryItemRepresentation,
  sorting: inventorySorting,
  filter: inventoryFilter,
  // An item's version covers the status of its pet.
  lockBefore: (stores: Stores, petId: Id): Promise<unknown> => stores.pets.lock(petId),
};

/** Items are created and deleted with their pets; only the quantity can be changed. */
export class InventoryService extends NounService<
  InventoryRow,
  InventoryStore,
  typeof inventoryFilter,
  InventorySortField,
  InventoryRelation
> {
  protected override readonly kind = inventoryKind;

  async update(
    petId: string,
    changes: InventoryChanges,
    options?: UpdateOptions<InventoryRelation>,
  ): Promise<InventoryRow> {
    const check = new InputCheck();
    const quantity = check.required('quantity', changes.quantity, stockQuantityRule);
    check.throwIfRefused();
    return updateById(this.stores, inventoryKind, petId, { quantity }, options);
  }
}
