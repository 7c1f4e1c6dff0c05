import { inBatches, maxBatchSize } from '../../domain/page.ts';
import { collection, page, resource } from '../answers.ts';
import { expectationOf } from '../entity-tag.ts';
import type { Handlers } from '../handler.ts';
import { inventoryItemBody } from './inventory-item.body.ts';

export const inventoryRoutes = {
  listInventory: async (call, { inventory }) => {
    const { limit, cursor } = call.query;
    if (limit === undefined) {
      return collection(
        call,
        inBatches((request) => inventory.list(request, maxBatchSize), cursor),
        inventoryItemBody,
      );
    }
    return page(call, await inventory.list({ first: limit, after: cursor }, maxBatchSize), inventoryItemBody);
  },

  getInventoryItem: async ({ path }, { inventory }) => resource(inventoryItemBody(await inventory.get(path.petId))),

  updateInventory: async ({ path, body, ifMatch }, { inventory }) =>
    resource(inventoryItemBody(await inventory.update(path.petId, body, expectationOf(ifMatch, inventoryItemBody)))),
} satisfies Partial<Handlers>;
