import type { Id } from '../id.ts';
import { NounService } from '../noun.service.ts';
import { nouns } from '../nouns.ts';
import { stockQuantityRule } from '../rules.ts';
import type { UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import { required, type ChangesOf } from '../written-fields.ts';
import type { InventoryRelation, InventoryRow, InventoryStore } from './inventory-item.store.ts';

const fields = { quantity: required(stockQuantityRule) };

const inventoryKind = {
  ...nouns.inventory,
  noun: 'inventory item',
  fields,
  // An item's version covers the status of its pet.
  lockBefore: (stores: Stores, petId: Id): Promise<unknown> => stores.pets.lock(petId),
};

/** Items are created and deleted with their pets; only the quantity can be changed. */
export class InventoryService extends NounService<InventoryRow, typeof inventoryKind, InventoryRelation> {
  override readonly kind = inventoryKind;

  protected override storeIn({ inventory }: Stores): InventoryStore {
    return inventory;
  }

  update(
    petId: string,
    changes: ChangesOf<typeof fields>,
    options?: UpdateOptions<InventoryRelation>,
  ): Promise<InventoryRow> {
    return this.change(petId, changes, options);
  }
}
