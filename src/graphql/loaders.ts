import DataLoader from 'dataloader';

import type { Category } from '../domain/categories/category.entity.ts';
import type { Id } from '../domain/id.ts';
import type { InventoryItem } from '../domain/inventory/inventory-item.entity.ts';
import type { Order } from '../domain/orders/order.entity.ts';
import type { OrderListRequest } from '../domain/orders/order.service.ts';
import type { Page } from '../domain/page.ts';
import type { Pet } from '../domain/pets/pet.entity.ts';
import type { PetListRequest } from '../domain/pets/pet.service.ts';
import type { Services } from '../domain/services.ts';
import type { CountParents } from './nested-quota.ts';

/** One loader for each set of arguments, so that the parents who ask the same are answered by one statement. */
type NestedLoader<Arguments, Value> = (args: Arguments) => DataLoader<Id, Value>;

/**
 * They gather what is asked for in one turn of the event loop and remember the answers: for one request, or one root mutation. Each is
 * made when it is needed.
 */
export class Loaders {
  readonly #services: Services;
  readonly #countParents: CountParents;
  readonly #made: { -readonly [Name in keyof Loaders]?: Loaders[Name] } = {};

  constructor(services: Services, countParents: CountParents) {
    this.#services = services;
    this.#countParents = countParents;
  }

  get petById(): DataLoader<string, Pet | null> {
    const { pets } = this.#services;
    return (this.#made.petById ??= new DataLoader((ids) => pets.findMany(ids)));
  }

  get categoryById(): DataLoader<string, Category | null> {
    const { categories } = this.#services;
    return (this.#made.categoryById ??= new DataLoader((ids) => categories.findMany(ids)));
  }

  get orderById(): DataLoader<string, Order | null> {
    const { orders } = this.#services;
    return (this.#made.orderById ??= new DataLoader((ids) => orders.findMany(ids)));
  }

  get inventoryItemByPetId(): DataLoader<string, InventoryItem | null> {
    const { inventory } = this.#services;
    return (this.#made.inventoryItemByPetId ??= new DataLoader((petIds) => inventory.findMany(petIds)));
  }

  /** Null for what its quota has no room for, but for one that says so; so do the orders of pets. */
  get petsByCategory(): NestedLoader<PetListRequest, Page<Pet> | null> {
    const { pets } = this.#services;
    return (this.#made.petsByCategory ??= nestedLoader(
      counted('Category.pets', this.#countParents, (categoryIds, request) =>
        pets.listPerCategory(categoryIds, request),
      ),
    ));
  }

  get petCountByCategory(): NestedLoader<PetListRequest['filter'], number> {
    const { pets } = this.#services;
    return (this.#made.petCountByCategory ??= nestedLoader((categoryIds, filter) =>
      pets.countPerCategory(categoryIds, filter),
    ));
  }

  get ordersByPet(): NestedLoader<OrderListRequest, Page<Order> | null> {
    const { orders } = this.#services;
    return (this.#made.ordersByPet ??= nestedLoader(
      counted('Pet.orders', this.#countParents, (petIds, request) => orders.listPerPet(petIds, request)),
    ));
  }

  get orderCountByPet(): NestedLoader<OrderListRequest['filter'], number> {
    const { orders } = this.#services;
    return (this.#made.orderCountByPet ??= nestedLoader((petIds, filter) => orders.countPerPet(petIds, filter)));
  }
}

type LoadMany<Arguments, Value> = (parentIds: readonly Id[], args: Arguments) => Promise<readonly (Value | Error)[]>;

/** Refuses a batch as a whole: the first parent's field fails, so that the client is told once, and the others are null. */
function counted<Arguments, Value>(
  field: string,
  countParents: CountParents,
  loadMany: LoadMany<Arguments, Value>,
): LoadMany<Arguments, Value | null> {
  return async (parentIds, args) => {
    const refusal = await countParents(field, parentIds.length);
    return refusal === undefined
      ? loadMany(parentIds, args)
      : parentIds.map((_, index) => (index === 0 ? refusal : null));
  };
}

function nestedLoader<Arguments, Value>(loadMany: LoadMany<Arguments, Value>): NestedLoader<Arguments, Value> {
  const loaders = new Map<string, DataLoader<Id, Value>>();
  return (args) => {
    const key = JSON.stringify(args) ?? '';
    const loader = loaders.get(key) ?? new DataLoader((parentIds) => loadMany(parentIds, args));
    loaders.set(key, loader);
    return loader;
  };
}
