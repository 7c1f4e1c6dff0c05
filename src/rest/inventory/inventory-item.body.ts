import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { inventoryItemRepresentation } from '../../domain/inventory/inventory-item.version.ts';
import type { Json } from '../json.ts';
import type { components } from '../openapi/types.ts';

/** The longest values. */
export const maxInventoryItemBytes = 100;

export const inventoryItemBody: (row: InventoryItem) => Json<components['schemas']['InventoryItem']> =
  inventoryItemRepresentation;
