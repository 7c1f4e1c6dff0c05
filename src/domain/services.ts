import { AccessService, type AccessServiceOptions } from './access/access.service.ts';
import { CategoryService } from './categories/category.service.ts';
import { EventService } from './events/event.service.ts';
import { InventoryService } from './inventory/inventory.service.ts';
import { OrderService } from './orders/order.service.ts';
import { PetService } from './pets/pet.service.ts';
import type { Stores } from './stores.ts';

/** The services of the domain, for both protocols. */
export interface Services {
  readonly access: AccessService;
  readonly pets: PetService;
  readonly categories: CategoryService;
  readonly orders: OrderService;
  readonly inventory: InventoryService;
  readonly events: EventService;
}

/**
 * The services on the stores of a caller, or on those inside a transaction. They hold no state between two calls.
 *
 * The options of `access` are for the stores of a caller; leave them out inside a transaction.
 */
export function createServices(stores: Stores, access?: AccessServiceOptions): Services {
  return {
    access: new AccessService(stores, access),
    pets: new PetService(stores),
    categories: new CategoryService(stores),
    orders: new OrderService(stores),
    inventory: new InventoryService(stores),
    events: new EventService(stores),
  };
}
