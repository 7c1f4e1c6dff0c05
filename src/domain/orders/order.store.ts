import type { Id } from '../id.ts';
import type { Keyset, Slice, Sorting } from '../page.ts';
import type { Pet } from '../pets/pet.entity.ts';
import type { Include, ReadStore, RowData, WriteStore } from '../store.ts';
import type { Order } from './order.entity.ts';

/** An unset property doesn't filter; an empty list matches nothing. */
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

interface OrderRelations {
  readonly pet: Pet;
}
export type OrderRelation = keyof OrderRelations;
export const orderRelations = ['pet'] as const satisfies readonly OrderRelation[];

/** An order with the related rows that were included and exist. */
export type OrderRow = Order & Partial<OrderRelations>;

export interface OrderStore
  extends
    ReadStore<OrderRow, OrderFilter, OrderSortField, OrderRelation>,
    WriteStore<OrderRow, RowData<Order>, OrderRelation> {
  /** The same page for each pet, in the order of the pets; empty for one that doesn't exist. One statement. */
  pagePerPet(
    petIds: readonly Id[],
    filter: OrderFilter,
    keyset: Keyset<OrderSortField>,
    include?: Include<OrderRelation>,
  ): Promise<Slice<OrderRow>[]>;
  countPerPet(petIds: readonly Id[], filter: OrderFilter): Promise<number[]>;
}
