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

/** Each is made where it is used: it is as light as this one. */
class StoreServices {
  readonly stores: Stores;
  readonly #accessOptions: AccessServiceOptions | undefined;

  constructor(stores: Stores, accessOptions: AccessServiceOptions | undefined) {
    this.stores = stores;
    this.#accessOptions = accessOptions;
  }

  get access(): AccessService {
    return new AccessService(this.stores, this.#accessOptions);
  }

  get events(): EventService {
    return new EventService(this.stores);
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
