import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { inventoryItemRepresentation } from '../../domain/inventory/inventory-item.version.ts';
import { maxBatchSize } from '../../domain/page.ts';
import type { Handlers } from '../handler.ts';
import type { Json } from '../json.ts';
import type { components } from '../openapi/types.ts';
import { collection, resource } from '../responses.ts';

/** The longest values. */
const maxInventoryItemBytes = 100;

const inventoryItemBody: (row: InventoryItem) => Json<components['schemas']['InventoryItem']> =
  inventoryItemRepresentation;

export const inventoryRoutes = {
  listInventory: (call, { inventory }) =>
    collection(
      call,
      (request) => inventory.list(request, { maxSize: maxBatchSize }),
      inventoryItemBody,
      maxInventoryItemBytes,
    ),

  getInventoryItem: async ({ path }, { inventory }) => resource(inventoryItemBody(await inventory.get(path.petId))),

  updateInventory: async ({ path, body, precondition }, { inventory }) =>
    resource(inventoryItemBody(await inventory.update(path.petId, body, { precondition }))),
} satisfies Partial<Handlers>;
