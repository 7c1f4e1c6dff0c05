import { AccessService, type AccessServiceOptions } from './access/access.service.ts';
import type { Actor } from './access/principal.ts';
import { CategoryService } from './categories/category.service.ts';
import { EventService } from './events/event.service.ts';
import { InventoryService } from './inventory/inventory.service.ts';
import type { CollectionOf, NounName } from './nouns.ts';
import { OrderService } from './orders/order.service.ts';
import { PetService } from './pets/pet.service.ts';
import { RequestService } from './requests/request.service.ts';
import type { Stores } from './stores.ts';
import type { WebhookObserver, WebhookOutlet } from './webhooks/webhook-outlet.ts';
import { WebhookService } from './webhooks/webhook.service.ts';

export interface ServiceOptions {
  /** For the stores of a caller only. */
  readonly access?: AccessServiceOptions | undefined;
  /** Unset while webhooks are off. */
  readonly webhooks?: WebhookOutlet | undefined;
  /** For the stores of a caller only. */
  readonly webhookObserver?: WebhookObserver | undefined;
}

/** Services on the stores of a caller, or of a transaction: without state, and each made where it is used. */
export class Services implements Readonly<Record<CollectionOf<NounName>, object>> {
  readonly #stores: Stores;
  readonly #actor: Actor;
  readonly #options: ServiceOptions;

  constructor(stores: Stores, actor: Actor, options: ServiceOptions = {}) {
    this.#stores = stores;
    this.#actor = actor;
    this.#options = options;
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
    return new AccessService(this.#stores, this.#actor, this.#options.access);
  }

  get events(): EventService {
    return new EventService(this.#stores);
  }

  get requests(): RequestService {
    return new RequestService(this.#stores);
  }

  get webhooks(): WebhookService {
    const { webhooks, webhookObserver } = this.#options;
    return new WebhookService(this.#stores, this.#actor, webhooks, webhookObserver);
  }

  /** The same on the stores inside a transaction. */
  inside(stores: Stores): Services {
    return new Services(stores, this.#actor, { webhooks: this.#options.webhooks });
  }
}
