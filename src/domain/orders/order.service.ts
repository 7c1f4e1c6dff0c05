import { DomainError } from '../errors.ts';
import type { Id } from '../id.ts';
import { given, InputCheck } from '../input.ts';
import type { Inserts } from '../inserts.ts';
import { pageOf, parseKeyset, type Keyset, type ListRequest, type Page } from '../page.ts';
import { Pet } from '../pets/pet.entity.ts';
import { findByIds, getById } from '../reads.ts';
import { Reference } from '../reference.ts';
import { anyRule, idChoiceRule, instantRule, orderQuantityRule } from '../rules.ts';
import { lockById, type Expectation, type UnitOfWork } from '../unit-of-work.ts';
import { Order } from './order.entity.ts';
import { orderSorting, type OrderFilter, type OrderReads, type OrderSortField } from './order.reads.ts';

export interface NewOrder {
  readonly petId?: string | null | undefined;
  readonly quantity?: number | null | undefined;
  /** RFC 3339. */
  readonly shipDate?: string | null | undefined;
  readonly complete?: boolean | null | undefined;
}

/** What is undefined stays as it is; null takes a value away, but not from `complete`. */
export type OrderChanges = NewOrder;

export interface OrderFilterInput {
  readonly petIdIn?: readonly string[] | null | undefined;
  readonly complete?: boolean | null | undefined;
  readonly shipDateFrom?: string | null | undefined;
  readonly shipDateTo?: string | null | undefined;
}

export type OrderListRequest = ListRequest<OrderFilterInput, OrderSortField>;

const noun = 'order';
const pet = new Reference('petId', Pet, 'pet');

export class OrderService {
  readonly #unitOfWork: UnitOfWork;
  readonly #reads: OrderReads;
  readonly #inserts: Inserts;

  constructor(unitOfWork: UnitOfWork, reads: OrderReads, inserts: Inserts) {
    this.#unitOfWork = unitOfWork;
    this.#reads = reads;
    this.#inserts = inserts;
  }

  /** Throws NOT_FOUND. */
  get(id: string): Promise<Order> {
    return getById(this.#reads, noun, id);
  }

  findMany(ids: readonly string[]): Promise<(Order | null)[]> {
    return findByIds(this.#reads, ids);
  }

  async list(request: OrderListRequest, maxSize?: number): Promise<Page<Order>> {
    const { filter, keyset } = parseRequest(request, maxSize);
    return pageOf(orderSorting, keyset, await this.#reads.slice(filter, keyset));
  }

  /** The same page for each pet, in the order of the pets. */
  async listPerPet(petIds: readonly Id[], request: OrderListRequest): Promise<Page<Order>[]> {
    const { filter, keyset } = parseRequest(request);
    const slices = await this.#reads.slicePerParent(petIds, filter, keyset);
    return slices.map((slice) => pageOf(orderSorting, keyset, slice));
  }

  async count(filter: OrderListRequest['filter']): Promise<number> {
    return this.#reads.count(parseRequest({ filter }).filter);
  }

  async countPerPet(petIds: readonly Id[], filter: OrderListRequest['filter']): Promise<number[]> {
    return this.#reads.countPerParent(petIds, parseRequest({ filter }).filter);
  }

  async create(input: NewOrder): Promise<Order> {
    const check = new InputCheck();
    const data = {
      petId: check.optional('petId', input.petId, pet.rule) ?? null,
      quantity: check.optional('quantity', input.quantity, orderQuantityRule) ?? null,
      shipDate: check.optional('shipDate', input.shipDate, instantRule) ?? null,
      complete: check.optional('complete', input.complete, anyRule<boolean>()) ?? false,
    };
    await pet.throwIfRefused(check, this.#unitOfWork, data.petId);
    return { id: await pet.guard(data.petId, this.#inserts.order(data)), ...data };
  }

  /** Throws CONFLICT when a complete order would become incomplete. */
  async update(id: string, changes: OrderChanges, isExpected?: Expectation<Order>): Promise<Order> {
    const check = new InputCheck();
    const data = {
      petId: check.changeOrClear('petId', changes.petId, pet.rule),
      quantity: check.changeOrClear('quantity', changes.quantity, orderQuantityRule),
      shipDate: check.changeOrClear('shipDate', changes.shipDate, instantRule),
      complete: check.change('complete', changes.complete, anyRule<boolean>()),
    };
    check.someChange(data);
    await pet.throwIfRefused(check, this.#unitOfWork, data.petId);
    const work = this.#unitOfWork(async (em) => {
      await pet.requireTarget(em, data.petId);
      const order = await lockById(em, Order, noun, id, isExpected);
      if (order.complete && data.complete === false) {
        throw new DomainError('CONFLICT', `Order ${id} is complete, and a complete order stays complete.`);
      }
      return Object.assign(order, given(data));
    });
    return pet.guard(data.petId, work);
  }

  /** Deletes the order. Throws CONFLICT when it is complete: it has shipped. */
  async cancelOrder(id: string, isExpected?: Expectation<Order>): Promise<void> {
    await this.#unitOfWork(async (em) => {
      const order = await lockById(em, Order, noun, id, isExpected);
      if (order.complete) {
        throw new DomainError('CONFLICT', `Order ${id} is complete: it has shipped and can't be cancelled.`);
      }
      em.remove(order);
    });
  }
}

function parseRequest(
  request: OrderListRequest,
  maxSize?: number,
): { filter: OrderFilter; keyset: Keyset<OrderSortField> } {
  const check = new InputCheck();
  const keyset = parseKeyset(orderSorting, request, check, maxSize);
  const { petIdIn, complete, shipDateFrom, shipDateTo } = request.filter ?? {};
  const filter = {
    petIdIn: check.optional('filter.petIdIn', petIdIn, idChoiceRule),
    complete: check.optional('filter.complete', complete, anyRule<boolean>()),
    shipDateFrom: check.optional('filter.shipDateFrom', shipDateFrom, instantRule),
    shipDateTo: check.optional('filter.shipDateTo', shipDateTo, instantRule),
  };
  check.throwIfRefused();
  return { filter, keyset };
}
