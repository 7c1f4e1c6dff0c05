import { AccessService } from './access/access.service.ts';
import { CategoryService } from './categories/category.service.ts';
import { InventoryService } from './inventory/inventory.service.ts';
import { OrderService } from './orders/order.service.ts';
import { PetService } from './pets/pet.service.ts';
import type { Stores } from './stores.ts';

/** What the store can do, for both protocols. */
export interface Services {
  readonly access: AccessService;
  readonly pets: PetService;
  readonly categories: CategoryService;
  readonly orders: OrderService;
  readonly inventory: InventoryService;
}

/**
 * The services on the process's stores, or on those inside a transaction. They hold no state between two calls.
 *
 * `onKeyChange` is called after a change of API keys has been committed; so leave it out inside a transaction.
 */
export function createServices(stores: Stores, onKeyChange?: () => Promise<void>): Services {
  return {
    access: new AccessService(stores, { onChange: onKeyChange }),
    pets: new PetService(stores),
    categories: new CategoryService(stores),
    orders: new OrderService(stores),
    inventory: new InventoryService(stores),
  };
}
