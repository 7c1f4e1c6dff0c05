import { DomainError } from '../errors.ts';
import type { Id } from '../id.ts';
import { InputCheck, omitUndefined } from '../input.ts';
import { pageOf, parseListRequest, type ListOptions, type ListRequest, type Page } from '../page.ts';
import { Reference, throwIfRefused, writeReferring } from '../reference.ts';
import { deleteById, findByIds, getById, updateById } from '../rows.ts';
import { anyRule, idChoiceRule, instantRule, orderQuantityRule } from '../rules.ts';
import type { Include, UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { orderRepresentation } from './order.entity.ts';
import {
  orderSorting,
  type OrderFilter,
  type OrderRelation,
  type OrderRow,
  type OrderSortField,
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

export interface OrderFilterRequest {
  readonly petIdIn?: readonly string[] | null | undefined;
  readonly complete?: boolean | null | undefined;
  readonly shipDateFrom?: string | null | undefined;
  readonly shipDateTo?: string | null | undefined;
}

export type OrderListRequest = ListRequest<OrderFilterRequest, OrderSortField>;

const kind = { noun: 'order', storeOf: ({ orders }: Stores) => orders, representation: orderRepresentation };
const pet = new Reference('petId', 'pet', ({ pets }) => pets);

export class OrderService {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Throws NOT_FOUND. */
  get(id: string): Promise<OrderRow> {
    return getById(this.#stores, kind, id);
  }

  findMany(ids: readonly string[], include?: Include<OrderRelation>): Promise<(OrderRow | null)[]> {
    return findByIds(this.#stores.orders, ids, include);
  }

  async list(
    request: OrderListRequest,
    { include, maxSize }: ListOptions<OrderRelation> = {},
  ): Promise<Page<OrderRow>> {
    const { filter, keyset } = parseRequest(request, maxSize);
    return pageOf(orderSorting, keyset, await this.#stores.orders.page(filter, keyset, include));
  }

  /** The same page for each pet, in the order of the pets. */
  async listPerPet(
    petIds: readonly Id[],
    request: OrderListRequest,
    { include }: ListOptions<OrderRelation> = {},
  ): Promise<Page<OrderRow>[]> {
    const { filter, keyset } = parseRequest(request);
    const slices = await this.#stores.orders.pagePerPet(petIds, filter, keyset, include);
    return slices.map((slice) => pageOf(orderSorting, keyset, slice));
  }

  async count(filter: OrderListRequest['filter']): Promise<number> {
    return this.#stores.orders.count(parseRequest({ filter }).filter);
  }

  async countPerPet(petIds: readonly Id[], filter: OrderListRequest['filter']): Promise<number[]> {
    return this.#stores.orders.countPerPet(petIds, parseRequest({ filter }).filter);
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
    await throwIfRefused(check, this.#stores, referred);
    return writeReferring(this.#stores, referred, () => this.#stores.orders.insert(data, include));
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
    await throwIfRefused(check, this.#stores, referred);
    const staysComplete = (order: OrderRow): void => {
      if (!order.complete) return;
      throw new DomainError('CONFLICT', `Order ${id} is complete, and a complete order stays complete.`);
    };
    return writeReferring(this.#stores, referred, () =>
      updateById(this.#stores, kind, id, omitUndefined(data), {
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
    return deleteById(this.#stores, kind, id, { precondition, check });
  }
}

function parseRequest(request: OrderListRequest, maxSize?: number) {
  return parseListRequest(orderSorting, request, parseFilter, maxSize);
}

function parseFilter(check: InputCheck, input: OrderFilterRequest): OrderFilter {
  return {
    petIdIn: check.optional('filter.petIdIn', input.petIdIn, idChoiceRule),
    complete: check.optional('filter.complete', input.complete, anyRule<boolean>()),
    shipDateFrom: check.optional('filter.shipDateFrom', input.shipDateFrom, instantRule),
    shipDateTo: check.optional('filter.shipDateTo', input.shipDateTo, instantRule),
  };
}
