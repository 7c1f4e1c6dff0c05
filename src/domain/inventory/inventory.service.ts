import type { Id } from '../id.ts';
import { InputCheck } from '../input.ts';
import { NounService } from '../noun.service.ts';
import { updateById } from '../rows.ts';
import { stockQuantityRule } from '../rules.ts';
import type { UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import { inventoryItemRepresentation } from './inventory-item.entity.ts';
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

const kind = {
  noun: 'inventory item',
  storeOf: ({ inventory }: Stores) => inventory,
  representation: inventoryItemRepresentation,
  sorting: inventorySorting,
  filter: inventoryFilter,
  // An item's version covers the status of its pet.
  lockBefore: ({ pets }: Stores, petId: Id) => pets.lock(petId),
};

/** Items are created and deleted with their pets; only the quantity can be changed. */
export class InventoryService extends NounService<
  InventoryRow,
  InventoryStore,
  typeof inventoryFilter,
  InventorySortField,
  InventoryRelation
> {
  protected override readonly kind = kind;

  async update(
    petId: string,
    changes: InventoryChanges,
    options?: UpdateOptions<InventoryRelation>,
  ): Promise<InventoryRow> {
    const check = new InputCheck();
    const quantity = check.required('quantity', changes.quantity, stockQuantityRule);
    check.throwIfRefused();
    return updateById(this.stores, kind, petId, { quantity }, options);
  }
}
