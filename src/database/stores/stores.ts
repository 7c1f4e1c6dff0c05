import type { MetadataStorage } from '@mikro-orm/core';

import { ApiKeyChange } from '../../domain/access/api-key-change.entity.ts';
import { ApiKeyUsage } from '../../domain/access/api-key-usage.entity.ts';
import { ApiKey } from '../../domain/access/api-key.entity.ts';
import { Category } from '../../domain/categories/category.entity.ts';
import { IdempotencyRecord } from '../../domain/idempotency/idempotency-record.entity.ts';
import { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { Order } from '../../domain/orders/order.entity.ts';
import { Pet } from '../../domain/pets/pet.entity.ts';
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
  Category,
  IdempotencyRecord,
  InventoryItem,
  Order,
  Pet,
] as const;

/**
 * Makes the statements of all stores, once; the stores that it returns for a session, always the same, run all of
 * theirs there.
 */
function createStoresOf(metadata: MetadataStorage): (session: Session) => Stores {
  const apiKeys = createApiKeyStore(metadata);
  const categories = createCategoryStore(metadata);
  const events = createEventStore(metadata);
  const idempotency = createIdempotencyStore(metadata);
  const inventory = createInventoryStore(metadata);
  const orders = createOrderStore(metadata);
  const pets = createPetStore(metadata);
  const made = new WeakMap<Session, Stores>();
  const storesOf = (session: Session): Stores => {
    const stores = made.get(session) ?? makeStores(session);
    made.set(session, stores);
    return stores;
  };
  const makeStores = (session: Session): Stores => ({
    apiKeys: apiKeys(session),
    categories: categories(session),
    events: events(session),
    idempotency: idempotency(session),
    inventory: inventory(session),
    orders: orders(session),
    pets: pets(session),
    transaction: (work) => session.transaction((inside) => work(storesOf(inside))),
    atomically: (work) => session.atomically((inside) => work(storesOf(inside))),
    insertion: (work) => session.insertion((inside) => work(storesOf(inside))),
  });
  return storesOf;
}

/** The stores whose statements all run in this session, so that a transaction's stores never use another connection. */
export function createStores(metadata: MetadataStorage, session: Session): Stores {
  return createStoresOf(metadata)(session);
}
