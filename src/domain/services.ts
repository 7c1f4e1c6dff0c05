import { AccessService, type AccessServiceOptions } from './access/access.service.ts';
import { EventService } from './events/event.service.ts';
import { nounNames, nouns, type NounServices } from './nouns.ts';
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
  return new StoreServices(stores, access) as object as Services;
}

/** Those of nouns are made where they are used: they are as light as this one. */
class StoreServices {
  readonly access: AccessService;
  readonly events: EventService;
  readonly stores: Stores;

  constructor(stores: Stores, access?: AccessServiceOptions) {
    this.stores = stores;
    this.access = new AccessService(stores, access);
    this.events = new EventService(stores);
  }
}

for (const noun of nounNames) {
  const { collection, service: NounService } = nouns[noun];
  Object.defineProperty(StoreServices.prototype, collection, {
    get(this: StoreServices) {
      return new NounService(this.stores);
    },
  });
}
