import type { FilterFields, FilterOf } from '../filter.ts';
import { sortedById } from '../page.ts';
import type { Pet } from '../pets/pet.entity.ts';
import { anyRule, idChoiceRule, instantRule } from '../rules.ts';
import type { NounStore } from '../store.ts';
import { Order } from './order.entity.ts';

const orderFilter = {
  petIdIn: { property: 'petId', comparison: 'oneOf', rule: idChoiceRule },
  complete: { property: 'complete', comparison: 'equals', rule: anyRule<boolean>() },
  shipDateFrom: { property: 'shipDate', comparison: 'atLeast', rule: instantRule },
  shipDateTo: { property: 'shipDate', comparison: 'before', rule: instantRule },
} satisfies FilterFields<Order>;
export type OrderFilter = FilterOf<typeof orderFilter>;

export const orderSorting = sortedById(Order, 'orders', {
  SHIP_DATE: { type: 'instant', property: 'shipDate', isNullable: true },
});

export const orderList = { filter: orderFilter, sorting: orderSorting };

export interface OrderRelations {
  readonly pet: Pet;
}
export type OrderRelation = keyof OrderRelations;

/** An order with the related rows that were included and exist. */
export type OrderRow = Order & Partial<OrderRelations>;

export type OrderStore = NounStore<Order, typeof orderList, OrderRelations>;
