import type { ApiKeyStore } from './access/api-key.store.ts';
import type { CategoryStore } from './categories/category.store.ts';
import type { IdempotencyStore } from './idempotency/idempotency.store.ts';
import type { InventoryStore } from './inventory/inventory-item.store.ts';
import type { OrderStore } from './orders/order.store.ts';
import type { PetStore } from './pets/pet.store.ts';

/**
 * All that the services need of the database, as one value: there is the process's, and one inside each transaction.
 *
 * Inside a transaction only its stores are used, for reading too: a statement outside of it would not see what it
 * has written, and would wait for itself with a pool of one.
 * Every method throws UNAVAILABLE when the database can't be reached.
 */
export interface Stores {
  readonly apiKeys: ApiKeyStore;
  readonly categories: CategoryStore;
  readonly idempotency: IdempotencyStore;
  readonly inventory: InventoryStore;
  readonly orders: OrderStore;
  readonly pets: PetStore;

  /** Runs the work in a transaction and commits it; an error rolls it back. Inside a transaction the work joins that one. */
  transaction<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
}
