import { maxBatchSize } from '../../domain/page.ts';
import { collection, resource } from '../responses.ts';
import { preconditionOf } from '../entity-tag.ts';
import type { Handlers } from '../handler.ts';
import { inventoryItemBody, maxInventoryItemBytes } from './inventory-item.body.ts';

export const inventoryRoutes = {
  listInventory: (call, { inventory }) =>
    collection(
      call,
      (request) => inventory.list(request, { maxSize: maxBatchSize }),
      inventoryItemBody,
      maxInventoryItemBytes,
    ),

  getInventoryItem: async ({ path }, { inventory }) => resource(inventoryItemBody(await inventory.get(path.petId))),

  updateInventory: async ({ path, body, ifMatch }, { inventory }) =>
    resource(inventoryItemBody(await inventory.update(path.petId, body, { precondition: preconditionOf(ifMatch) }))),
} satisfies Partial<Handlers>;
