import { jsonId } from '../json-id.ts';
import { versionOf } from '../version.ts';
import type { InventoryItem } from './inventory-item.entity.ts';

/** The fields that clients see, in REST's form: the version changes with every one of them. */
export function inventoryItemRepresentation(item: InventoryItem) {
  const { petId, quantity, status } = item;
  return { petId: jsonId(petId), quantity, status };
}

export function inventoryItemVersion(inventoryItem: InventoryItem): string {
  return versionOf(JSON.stringify(inventoryItemRepresentation(inventoryItem)));
}
