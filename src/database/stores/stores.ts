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
import { createIdempotencyStore } from './idempotency.store.ts';
import { createInventoryStore } from './inventory-item.store.ts';
import { createOrderStore } from './order.store.ts';
import { createPetStore } from './pet.store.ts';
import type { Session } from './session.ts';

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
