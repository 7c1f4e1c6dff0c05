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

/** One loader for each set of arguments, so that the parents who ask the same are answered by one statement. */
type NestedLoader<Arguments, Value> = (args: Arguments) => DataLoader<Id, Value>;

/** They gather what is asked for in one turn of the event loop and remember the answers: for one request, or one root mutation. */
export interface Loaders {
  readonly petById: DataLoader<string, Pet | null>;
  readonly categoryById: DataLoader<string, Category | null>;
  readonly orderById: DataLoader<string, Order | null>;
  readonly inventoryItemByPetId: DataLoader<string, InventoryItem | null>;
  readonly petsByCategory: NestedLoader<PetListRequest, Page<Pet>>;
  readonly petCountByCategory: NestedLoader<PetListRequest['filter'], number>;
  readonly ordersByPet: NestedLoader<OrderListRequest, Page<Order>>;
  readonly orderCountByPet: NestedLoader<OrderListRequest['filter'], number>;
}

export function createLoaders({ pets, categories, orders, inventory }: Services): Loaders {
  return {
    petById: new DataLoader((ids) => pets.findMany(ids)),
    categoryById: new DataLoader((ids) => categories.findMany(ids)),
    orderById: new DataLoader((ids) => orders.findMany(ids)),
    inventoryItemByPetId: new DataLoader((petIds) => inventory.findMany(petIds)),
    petsByCategory: nestedLoader((categoryIds, request) => pets.listPerCategory(categoryIds, request)),
    petCountByCategory: nestedLoader((categoryIds, filter) => pets.countPerCategory(categoryIds, filter)),
    ordersByPet: nestedLoader((petIds, request) => orders.listPerPet(petIds, request)),
    orderCountByPet: nestedLoader((petIds, filter) => orders.countPerPet(petIds, filter)),
  };
}

function nestedLoader<Arguments, Value>(
  loadMany: (parentIds: readonly Id[], args: Arguments) => Promise<readonly Value[]>,
): NestedLoader<Arguments, Value> {
  const loaders = new Map<string, DataLoader<Id, Value>>();
  return (args) => {
    const key = JSON.stringify(args) ?? '';
    const loader = loaders.get(key) ?? new DataLoader((parentIds) => loadMany(parentIds, args));
    loaders.set(key, loader);
    return loader;
  };
}
