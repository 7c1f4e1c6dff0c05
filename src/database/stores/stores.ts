import type { MetadataStorage } from '@mikro-orm/core';

import type { Caller } from '../../platform/callers/index.ts';
import { ApiKeyChange } from '../../domain/access/api-key-change.entity.ts';
import { ApiKeyUsage } from '../../domain/access/api-key-usage.entity.ts';
import { ApiKey } from '../../domain/access/api-key.entity.ts';
import { IdempotencyRecord } from '../../domain/idempotency/idempotency-record.entity.ts';
import { nouns } from '../../domain/nouns.ts';
import { DeprecatedUse } from '../../domain/requests/deprecated-use.entity.ts';
import { KeyRequest } from '../../domain/requests/key-request.entity.ts';
import { KeyUse } from '../../domain/requests/key-use.entity.ts';
import type { SharedClock } from '../../platform/remote-clock.ts';
import type { Stores, TransactionKind } from '../../domain/stores.ts';
import { WebhookAttempt } from '../../domain/webhooks/webhook-attempt.entity.ts';
import { WebhookEndpointChange } from '../../domain/webhooks/webhook-endpoint-change.entity.ts';
import { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.entity.ts';
import type { WithEntities } from '../entity-manager.ts';
import { createApiKeyStore } from './api-key.store.ts';
import { createCategoryStore } from './category.store.ts';
import { createEventStore } from './event.store.ts';
import { createIdempotencyStore } from './idempotency.store.ts';
import { Installation } from './installation.entity.ts';
import { createInventoryStore } from './inventory-item.store.ts';
import { createOrderStore } from './order.store.ts';
import { createPetStore } from './pet.store.ts';
import { createRequestStore } from './request.store.ts';
import { SavedBatch } from './saved-batch.entity.ts';
import { createWebhookStore } from './webhook.store.ts';
import { commandOf, type Session } from '../../platform/postgres/index.ts';

export const entities = [
  ApiKey,
  ApiKeyChange,
  ApiKeyUsage,
  DeprecatedUse,
  IdempotencyRecord,
  Installation,
  KeyRequest,
  KeyUse,
  SavedBatch,
  WebhookAttempt,
  WebhookEndpoint,
  WebhookEndpointChange,
  ...Object.values(nouns).map(({ entity }) => entity),
];

/** The stores of the process, for whom they are used. */
export interface CallerStores {
  for(caller: Caller): Stores;
}

/**
 * Makes the statements of all stores, once, and returns their stores in a session, which run all of theirs there: those
 * of a transaction never use another connection. `onPrimary` is the session of what no replica may serve: keys, what is
 * done once, and webhooks. `maxWalked` is how many rows a page of a list may look at.
 */
export function createStores(
  metadata: MetadataStorage,
  withEntities: WithEntities,
  clock: SharedClock,
  maxWalked?: number,
): (session: Session, onPrimary?: Session) => Stores {
  const makers = storeMakers(metadata, withEntities, maxWalked);
  return (session, onPrimary = session) => new SessionStores(session, onPrimary, clock, makers);
}

function storeMakers(metadata: MetadataStorage, withEntities: WithEntities, maxWalked?: number) {
  return {
    pets: createPetStore(metadata, maxWalked),
    categories: createCategoryStore(metadata, maxWalked),
    orders: createOrderStore(metadata, maxWalked),
    inventory: createInventoryStore(metadata, maxWalked),
    apiKeys: createApiKeyStore(metadata, withEntities),
    events: createEventStore(metadata),
    idempotency: createIdempotencyStore(metadata, withEntities),
    requests: createRequestStore(metadata, withEntities),
    webhooks: createWebhookStore(metadata, withEntities),
  };
}

type StoreMakers = ReturnType<typeof storeMakers>;

const attribution = commandOf("select set_config('petstore.changed_by', $1, true)", { columns: 1 });

/** Each store is made where it is used: it is as light as this one. */
class SessionStores implements Stores {
  readonly clock: SharedClock;
  readonly #session: Session;
  readonly #onPrimary: Session;
  readonly #makers: StoreMakers;

  constructor(session: Session, onPrimary: Session, clock: SharedClock, makers: StoreMakers) {
    this.clock = clock;
    this.#session = session;
    this.#onPrimary = onPrimary;
    this.#makers = makers;
  }

  get pets() {
    return this.#makers.pets(this.#session);
  }

  get categories() {
    return this.#makers.categories(this.#session);
  }

  get orders() {
    return this.#makers.orders(this.#session);
  }

  get inventory() {
    return this.#makers.inventory(this.#session);
  }

  get apiKeys() {
    return this.#makers.apiKeys(this.#onPrimary);
  }

  get events() {
    return this.#makers.events(this.#session);
  }

  get idempotency() {
    return this.#makers.idempotency(this.#onPrimary);
  }

  get requests() {
    return this.#makers.requests(this.#onPrimary);
  }

  get webhooks() {
    return this.#makers.webhooks(this.#onPrimary);
  }

  async attributeChangesTo(by: string): Promise<void> {
    await this.#onPrimary.run(attribution, [by]);
  }

  transaction<T>(work: (stores: Stores) => Promise<T>, kind?: TransactionKind): Promise<T> {
    return this.#session.transaction((inside) => work(this.#in(inside)), kind);
  }

  /** Itself, inside a transaction. */
  #in(session: Session): Stores {
    return session === this.#session ? this : new SessionStores(session, session, this.clock, this.#makers);
  }
}
