import { AccessService, type AccessServiceOptions } from './access/access.service.ts';
import { CategoryService } from './categories/category.service.ts';
import { EventService } from './events/event.service.ts';
import { InventoryService } from './inventory/inventory.service.ts';
import type { NounServices } from './nouns.ts';
import { OrderService } from './orders/order.service.ts';
import { PetService } from './pets/pet.service.ts';
import type { Stores } from './stores.ts';

/** The services of the domain, for both protocols. */
export interface Services extends NounServices {
  readonly access: AccessService;
  readonly events: EventService;
}

/**
 * The services on the stores of a caller, or on those inside a transaction. They hold no state between two calls.
 *
 * The options of `access` are for the stores of a caller; leave them out inside a transaction.
 */
export function createServices(stores: Stores, access?: AccessServiceOptions): Services {
  return new StoreServices(stores, access);
}

/** Each is made where it is used: it is as light as this one. */
class StoreServices implements Services {
  readonly #stores: Stores;
  readonly #accessOptions: AccessServiceOptions | undefined;

  constructor(stores: Stores, accessOptions: AccessServiceOptions | undefined) {
    this.#stores = stores;
    this.#accessOptions = accessOptions;
  }

  get pets(): PetService {
    return new PetService(this.#stores);
  }

  get categories(): CategoryService {
    return new CategoryService(this.#stores);
  }

  get orders(): OrderService {
    return new OrderService(this.#stores);
  }

  get inventory(): InventoryService {
    return new InventoryService(this.#stores);
  }

  get access(): AccessService {
    return new AccessService(this.#stores, this.#accessOptions);
  }

  get events(): EventService {
    return new EventService(this.#stores);
  }
}
