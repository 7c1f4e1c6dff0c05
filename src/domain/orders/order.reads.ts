import type { Id } from '../id.ts';
import type { Sorting } from '../page.ts';
import type { NestedReads } from '../reads.ts';
import type { Order } from './order.entity.ts';

/** What is left out, or undefined, doesn't filter; an empty list matches nothing. */
export interface OrderFilter {
  readonly petIdIn?: readonly Id[] | undefined;
  readonly complete?: boolean | undefined;
  /** Inclusive. */
  readonly shipDateFrom?: Date | undefined;
  /** Exclusive. */
  readonly shipDateTo?: Date | undefined;
}

const orderSortFields = ['ID', 'SHIP_DATE'] as const;
export type OrderSortField = (typeof orderSortFields)[number];

export const orderSorting: Sorting<Order, OrderSortField> = {
  kind: 'orders',
  idOf: (order) => order.id,
  keys: { ID: null, SHIP_DATE: { type: 'instant', valueOf: (order) => order.shipDate?.getTime() ?? null } },
  defaultField: 'ID',
};

/** The parent is the pet. */
export type OrderReads = NestedReads<Order, OrderFilter, OrderSortField>;
