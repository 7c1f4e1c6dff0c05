import { AccessService } from './access/access.service.ts';
import type { ApiKeyReads } from './access/api-key.reads.ts';
import type { CategoryReads } from './categories/category.reads.ts';
import { CategoryService } from './categories/category.service.ts';
import type { Inserts } from './inserts.ts';
import type { InventoryReads } from './inventory/inventory-item.reads.ts';
import { InventoryService } from './inventory/inventory.service.ts';
import type { OrderReads } from './orders/order.reads.ts';
import { OrderService } from './orders/order.service.ts';
import type { PetReads } from './pets/pet.reads.ts';
import { PetService } from './pets/pet.service.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface StoreReads {
  readonly apiKeys: ApiKeyReads;
  readonly pets: PetReads;
  readonly categories: CategoryReads;
  readonly orders: OrderReads;
  readonly inventory: InventoryReads;
}

/** What the store can do, for both protocols. */
export interface Services {
  readonly access: AccessService;
  readonly pets: PetService;
  readonly categories: CategoryService;
  readonly orders: OrderService;
  readonly inventory: InventoryService;
}

/**
 * They keep nothing between two calls: each writing call is a unit of work of its own.
 *
 * `onKeyChange` is told of changed API keys; only where the unit of work isn't part of a larger one.
 */
export function createServices(
  unitOfWork: UnitOfWork,
  reads: StoreReads,
  inserts: Inserts,
  onKeyChange?: () => Promise<void>,
): Services {
  return {
    access: new AccessService(unitOfWork, reads.apiKeys, { onChange: onKeyChange }),
    pets: new PetService(unitOfWork, reads.pets, inserts),
    categories: new CategoryService(unitOfWork, reads.categories, inserts),
    orders: new OrderService(unitOfWork, reads.orders, inserts),
    inventory: new InventoryService(unitOfWork, reads.inventory),
  };
}
