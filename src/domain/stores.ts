import type { ApiKeyStore } from './access/api-key.store.ts';
import type { CategoryStore } from './categories/category.store.ts';
import type { EventStore } from './events/event.store.ts';
import type { IdempotencyStore } from './idempotency/idempotency.store.ts';
import type { InventoryStore } from './inventory/inventory-item.store.ts';
import type { OrderStore } from './orders/order.store.ts';
import type { PetStore } from './pets/pet.store.ts';
import type { RequestStore } from './requests/request.store.ts';
import type { SharedClock } from '../platform/remote-clock.ts';
import type { WebhookStore } from './webhooks/webhook.store.ts';

/**
 * All stores of one session, as one value: one for each caller, and one inside each transaction.
 *
 * Inside a transaction use only its stores, for reads too: a statement outside of it doesn't see its writes, and
 * deadlocks with a pool of one. Every method throws UNAVAILABLE when the database can't be reached.
 */
export interface Stores {
  readonly pets: PetStore;
  readonly categories: CategoryStore;
  readonly orders: OrderStore;
  readonly inventory: InventoryStore;
  readonly apiKeys: ApiKeyStore;
  readonly events: EventStore;
  readonly idempotency: IdempotencyStore;
  readonly requests: RequestStore;
  readonly webhooks: WebhookStore;
  /** The database's. */
  readonly clock: SharedClock;

  /** Names who makes the changes of this transaction, for the histories of keys and of webhook endpoints. */
  attributeChangesTo(by: string): Promise<void>;
  /** An error rolls it back. Inside a transaction the work joins that one. */
  transaction<T>(work: (stores: Stores) => Promise<T>, kind?: TransactionKind): Promise<T>;
}

/**
 * How the work of a transaction is done, where not `plain`.
 *
 * - `insertion`: it only inserts, besides claiming a key. What comes from one client at the same time may be one
 *   transaction. When any of it fails, or does more than that, all is rolled back, and each work is done again by
 *   itself.
 * - `atomic`: it has several writes, and locks all rows first (`lockNamedRows`). It may take 2 s from BEGIN (500 ms on
 *   the embedded database), and is done again after a deadlock within that time, on stores made anew. A statement
 *   that fails rolls all back, whatever the work makes of it. Throws UNAVAILABLE when it takes too long.
 */
export type TransactionKind = 'plain' | 'insertion' | 'atomic';
