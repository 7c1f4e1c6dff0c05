import type { MetadataStorage } from '@mikro-orm/core';

import { ApiKeyChange } from '../../domain/access/api-key-change.entity.ts';
import { ApiKeyUsage } from '../../domain/access/api-key-usage.entity.ts';
import { ApiKey } from '../../domain/access/api-key.entity.ts';
import { IdempotencyRecord } from '../../domain/idempotency/idempotency-record.entity.ts';
import { nouns } from '../../domain/nouns.ts';
import type { Stores } from '../../domain/stores.ts';
import { createApiKeyStore } from './api-key.store.ts';
import { createCategoryStore } from './category.store.ts';
import { createEventStore } from './event.store.ts';
import { createIdempotencyStore } from './idempotency.store.ts';
import { createInventoryStore } from './inventory-item.store.ts';
import { createOrderStore } from './order.store.ts';
import { createPetStore } from './pet.store.ts';
import type { Session } from '../../postgres/statement.ts';

/** The entities of all stores, for MikroORM. */
export const entities = [
  ApiKey,
  ApiKeyChange,
  ApiKeyUsage,
  IdempotencyRecord,
  ...Object.values(nouns).map(({ entity }) => entity),
];

/**
 * Makes the statements of all stores, once. The stores of a session run all of theirs there, so that those of a
 * transaction never use another connection; a session's stores are always the same.
 */
export function createStores(metadata: MetadataStorage, session: Session): Stores {
  const apiKeys = createApiKeyStore(metadata);
  const categories = createCategoryStore(metadata);
  const events = createEventStore(metadata);
  const idempotency = createIdempotencyStore(metadata);
  const inventory = createInventoryStore(metadata);
  const orders = createOrderStore(metadata);
  const pets = createPetStore(metadata);
  const made = new WeakMap<Session, Stores>();
  const storesOf = (within: Session): Stores => {
    const known = made.get(within);
    if (known !== undefined) return known;
    const stores: Stores = {
      apiKeys: apiKeys(within),
      categories: categories(within),
      events: events(within),
      idempotency: idempotency(within),
      inventory: inventory(within),
      orders: orders(within),
      pets: pets(within),
      transaction: (work) => within.transaction((inside) => work(storesOf(inside))),
      atomically: (work) => within.atomically((inside) => work(storesOf(inside))),
      insertion: (work) => within.insertion((inside) => work(storesOf(inside))),
    };
    made.set(within, stores);
    return stores;
  };
  return storesOf(session);
}
