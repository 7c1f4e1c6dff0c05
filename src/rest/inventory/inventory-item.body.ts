import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { jsonId, type Json } from '../json.ts';
import type { components } from '../openapi/types.ts';

/** The longest values. */
export const maxInventoryItemBytes = 100;

export function inventoryItemBody(item: InventoryItem): Json<components['schemas']['InventoryItem']> {
  const { petId, quantity, status } = item;
  return { petId: jsonId(petId), quantity, status };
}
