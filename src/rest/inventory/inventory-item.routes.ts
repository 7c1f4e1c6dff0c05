import { inventoryItemRepresentation, type InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { nouns } from '../../domain/nouns.ts';
import { maxBatchSize } from '../../domain/page.ts';
import type { Handlers } from '../handler.ts';
import type { Json } from '../json.ts';
import type { Schemas } from '../openapi/types.ts';
import { collection, resource } from '../responses.ts';

const { maxBytes } = nouns.inventory;
const itemBody: (item: InventoryItem) => Json<Schemas['InventoryItem']> = inventoryItemRepresentation;

export const inventoryRoutes = {
  listInventory(call, { inventory }) {
    return collection(call, (request) => inventory.list(request, { maxSize: maxBatchSize }), itemBody, maxBytes);
  },

  async getInventoryItem({ path }, { inventory }) {
    return resource(itemBody(await inventory.get(path.petId)));
  },

  async updateInventory({ path, body, precondition }, { inventory }) {
    return resource(itemBody(await inventory.update(path.petId, body, { precondition })));
  },
} satisfies Partial<Handlers>;
