import { DomainError } from '../errors.ts';
import type { FilterRequest } from '../filter.ts';
import type { Id } from '../id.ts';
import { InputCheck, omitUndefined } from '../input.ts';
import { NounService } from '../noun.service.ts';
import type { ListOptions, ListRequest, Page } from '../page.ts';
import { Reference, throwIfRefused, writeReferring } from '../reference.ts';
import { deleteById, updateById } from '../rows.ts';
import { anyRule, instantRule, orderQuantityRule } from '../rules.ts';
import type { Include, UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { orderRepresentation } from './order.entity.ts';
import {
  orderFilter,
  orderSorting,
  type OrderRelation,
  type OrderRow,
  type OrderSortField,
  type OrderStore,
} from './order.store.ts';

export interface NewOrder {
  readonly petId?: string | null | undefined;
  readonly quantity?: number | null | undefined;
  /** RFC 3339. */
  readonly shipDate?: string | null | undefined;
  readonly complete?: boolean | null | undefined;
}

/** An undefined property stays unchanged; null removes a value, except that of `complete`. */
export type OrderChanges = NewOrder;

export type OrderListRequest = ListRequest<FilterRequest<typeof orderFilter>, OrderSortField>;

const kind = {
  noun: 'order',
  storeOf: ({ orders }: Stores) => orders,
  representation: orderRepresentation,
  sorting: orderSorting,
  filter: orderFilter,
};
const pet = new Reference('petId', 'pet', ({ pets }) => pets);

export class OrderService extends NounService<OrderRow, OrderStore, typeof orderFilter, OrderSortField, OrderRelation> {
  protected override readonly kind = kind;

  /** The same page for each pet, in the order of the pets. */
  listPerPet(
    petIds: readonly Id[],
    request: OrderListRequest,
    { include }: ListOptions<OrderRelation> = {},
  ): Promise<Page<OrderRow>[]> {
    return this.listPer(request, (...page) => this.store.pagePerPet(petIds, ...page, include));
  }

  async countPerPet(petIds: readonly Id[], filter: OrderListRequest['filter']): Promise<number[]> {
    return this.store.countPerPet(petIds, this.parse({ filter }).filter);
  }

  async create(input: NewOrder, include?: Include<OrderRelation>): Promise<OrderRow> {
    const check = new InputCheck();
    const data = {
      petId: check.optional('petId', input.petId, pet.rule) ?? null,
      quantity: check.optional('quantity', input.quantity, orderQuantityRule) ?? null,
      shipDate: check.optional('shipDate', input.shipDate, instantRule) ?? null,
      complete: check.optional('complete', input.complete, anyRule<boolean>()) ?? false,
    };
    const referred = [[pet, data.petId]] as const;
    await throwIfRefused(check, this.stores, referred);
    return writeReferring(this.stores, referred, () => this.store.insert(data, include));
  }

  /** Throws CONFLICT when a complete order would become incomplete. */
  async update(id: string, changes: OrderChanges, options: UpdateOptions<OrderRelation> = {}): Promise<OrderRow> {
    const check = new InputCheck();
    const data = {
      petId: check.changeOrClear('petId', changes.petId, pet.rule),
      quantity: check.changeOrClear('quantity', changes.quantity, orderQuantityRule),
      shipDate: check.changeOrClear('shipDate', changes.shipDate, instantRule),
      complete: check.change('complete', changes.complete, anyRule<boolean>()),
    };
    check.requireAtLeastOneChange(data);
    const referred = [[pet, data.petId]] as const;
    await throwIfRefused(check, this.stores, referred);
    const staysComplete = (order: OrderRow): void => {
      if (!order.complete) return;
      throw new DomainError('CONFLICT', `Order ${id} is complete, and a complete order stays complete.`);
    };
    return writeReferring(this.stores, referred, () =>
      updateById(this.stores, kind, id, omitUndefined(data), {
        ...options,
        check: data.complete === false ? staysComplete : undefined,
      }),
    );
  }

  /** Deletes the order. Throws CONFLICT when it is complete: it has shipped. */
  cancelOrder(id: string, precondition?: Precondition): Promise<void> {
    const check = (order: OrderRow): void => {
      if (!order.complete) return;
      throw new DomainError('CONFLICT', `Order ${id} is complete: it has shipped and can't be cancelled.`);
    };
    return deleteById(this.stores, kind, id, { precondition, check });
  }
}
