import type { Category } from '../categories/category.entity.ts';
import type { Id } from '../id.ts';
import type { InventoryItem } from '../inventory/inventory-item.entity.ts';
import type { Order } from '../orders/order.entity.ts';
import type { Pet } from '../pets/pet.entity.ts';

/** All types of events, as REST spells them. */
export const eventTypes = [
  'pet.created',
  'pet.updated',
  'pet.deleted',
  'category.created',
  'category.updated',
  'category.deleted',
  'order.created',
  'order.updated',
  'order.cancelled',
  'inventory.created',
  'inventory.updated',
  'inventory.deleted',
  'store.resync',
] as const;

export type EventType = (typeof eventTypes)[number];

/**
 * A place in the log. The salt is random and stored with the event: after a restore the same position gets another one.
 */
export interface EventPosition {
  readonly position: Id;
  readonly salt: Id;
}

/** What was changed, as it was after the change, or before it for a deletion: its own columns, without relations. */
export type EventSubject =
  | { readonly noun: 'pet'; readonly row: Pet }
  | { readonly noun: 'category'; readonly row: Category }
  | { readonly noun: 'order'; readonly row: Order }
  | { readonly noun: 'inventory'; readonly row: InventoryItem };

/** One committed change of one object. */
export interface StoreEvent extends EventPosition {
  readonly type: EventType;
  /** When the change was made; later events may have an earlier instant. */
  readonly at: Date;
  /** Undefined for `store.resync`: everything may have changed. */
  readonly subject: EventSubject | undefined;
}
