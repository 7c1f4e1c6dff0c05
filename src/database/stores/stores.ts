import type { MetadataStorage } from '@mikro-orm/core';

import type { Stores } from '../../domain/stores.ts';
import { createApiKeyStore } from './api-key.store.ts';
import { createCategoryStore } from './category.store.ts';
import { createIdempotencyStore } from './idempotency.store.ts';
import { createInventoryStore } from './inventory-item.store.ts';
import { createOrderStore } from './order.store.ts';
import { createPetStore } from './pet.store.ts';
import type { Session } from './session.ts';

/** The stores whose statements all run in this session, so that a transaction's stores never use another connection. */
export function createStores(metadata: MetadataStorage, session: Session): Stores {
  return {
    apiKeys: createApiKeyStore(metadata, session),
    categories: createCategoryStore(metadata, session),
    idempotency: createIdempotencyStore(metadata, session),
    inventory: createInventoryStore(metadata, session),
    orders: createOrderStore(metadata, session),
    pets: createPetStore(metadata, session),
    transaction: (work) => session.transaction((inside) => work(createStores(metadata, inside))),
  };
}
