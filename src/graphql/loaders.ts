import { hash } from 'node:crypto';

import DataLoader from 'dataloader';

import type { HistoryRequest } from '../domain/access/access.service.ts';
import type { ApiKeyChange } from '../domain/access/api-key-change.entity.ts';
import type { Category } from '../domain/categories/category.entity.ts';
import type { Id } from '../domain/id.ts';
import type { InventoryRelation, InventoryRow } from '../domain/inventory/inventory-item.store.ts';
import type { OrderRelation, OrderRow } from '../domain/orders/order.store.ts';
import type { OrderListRequest } from '../domain/orders/order.service.ts';
import type { Page } from '../domain/page.ts';
import type { PetListRequest } from '../domain/pets/pet.service.ts';
import type { PetRelation, PetRow } from '../domain/pets/pet.store.ts';
import type { Services } from '../domain/services.ts';
import type { Include } from '../domain/store.ts';
import type { CountParents } from './nested-quota.ts';

/**
 * Rows by id, with what was included. One loader for each combination of relations, so that each kind of row is read by
 * few statements.
 */
type RowLoader<Row, Relation extends string> = (include?: Include<Relation>) => DataLoader<string, Row | null>;

/** One loader for each set of arguments, so that parents with equal arguments share one statement. */
type NestedLoader<Arguments, Value> = (args: Arguments) => DataLoader<Id, Value>;

/** The arguments of a nested connection, and what is included in its rows. */
interface NestedPage<Request, Relation extends string> {
  readonly request: Request;
  readonly include: Include<Relation>;
}

/**
 * They batch the loads of one tick of the event loop and cache the rows for one request, or one root mutation. Each is
 * created on first use.
 */
export class Loaders {
  readonly #services: Services;
  readonly #countParents: CountParents;
  readonly #made: { -readonly [Name in keyof Loaders]?: Loaders[Name] } = {};

  constructor(services: Services, countParents: CountParents) {
    this.#services = services;
    this.#countParents = countParents;
  }

  get petById(): RowLoader<PetRow, PetRelation> {
    const { pets } = this.#services;
    return (this.#made.petById ??= rowLoader((ids, include) => pets.findMany(ids, include)));
  }

  get categoryById(): RowLoader<Category, never> {
    const { categories } = this.#services;
    return (this.#made.categoryById ??= rowLoader((ids) => categories.findMany(ids)));
  }

  get orderById(): RowLoader<OrderRow, OrderRelation> {
    const { orders } = this.#services;
    return (this.#made.orderById ??= rowLoader((ids, include) => orders.findMany(ids, include)));
  }

  get inventoryItemByPetId(): RowLoader<InventoryRow, InventoryRelation> {
    const { inventory } = this.#services;
    return (this.#made.inventoryItemByPetId ??= rowLoader((petIds, include) => inventory.findMany(petIds, include)));
  }

  /** When its quota is exceeded, one parent gets the error and the others null; likewise for the orders of pets. */
  get petsByCategory(): NestedLoader<NestedPage<PetListRequest, PetRelation>, Page<PetRow> | null> {
    const { pets } = this.#services;
    return (this.#made.petsByCategory ??= nestedLoader(
      nameOfPage,
      counted('Category.pets', this.#countParents, (categoryIds, { request, include }) =>
        pets.listPerCategory(categoryIds, request, { include }),
      ),
    ));
  }

  get petCountByCategory(): NestedLoader<PetListRequest['filter'], number> {
    const { pets } = this.#services;
    return (this.#made.petCountByCategory ??= nestedLoader(nameOf, (categoryIds, filter) =>
      pets.countPerCategory(categoryIds, filter),
    ));
  }

  get ordersByPet(): NestedLoader<NestedPage<OrderListRequest, OrderRelation>, Page<OrderRow> | null> {
    const { orders } = this.#services;
    return (this.#made.ordersByPet ??= nestedLoader(
      nameOfPage,
      counted('Pet.orders', this.#countParents, (petIds, { request, include }) =>
        orders.listPerPet(petIds, request, { include }),
      ),
    ));
  }

  get orderCountByPet(): NestedLoader<OrderListRequest['filter'], number> {
    const { orders } = this.#services;
    return (this.#made.orderCountByPet ??= nestedLoader(nameOf, (petIds, filter) =>
      orders.countPerPet(petIds, filter),
    ));
  }

  get historyByApiKey(): NestedLoader<HistoryRequest, Page<ApiKeyChange> | null> {
    const { access } = this.#services;
    return (this.#made.historyByApiKey ??= nestedLoader(
      nameOf,
      counted('ApiKey.history', this.#countParents, (keyIds, request) => access.listHistory(keyIds, request)),
    ));
  }

  get historyCountByApiKey(): DataLoader<Id, number> {
    const { access } = this.#services;
    return (this.#made.historyCountByApiKey ??= new DataLoader((keyIds) => access.countHistory(keyIds)));
  }
}

function rowLoader<Row, Relation extends string>(
  findMany: (ids: readonly string[], include: Include<Relation>) => Promise<(Row | null)[]>,
): RowLoader<Row, Relation> {
  const loaders = new Map<string, DataLoader<string, Row | null>>();
  return (include = []) => {
    const key = include.join();
    const loader = loaders.get(key) ?? new DataLoader((ids) => findMany(ids, include));
    loaders.set(key, loader);
    return loader;
  };
}

type LoadMany<Arguments, Value> = (parentIds: readonly Id[], args: Arguments) => Promise<readonly (Value | Error)[]>;

/**
 * Refuses a batch as a whole: the first parent's field fails, so that the client gets one error, and the others are
 * null.
 */
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

/** By their names, so that fields with equal arguments share a loader. */
function nestedLoader<Arguments, Value>(
  nameOfArguments: (args: NoInfer<Arguments>) => string,
  loadMany: LoadMany<Arguments, Value>,
): NestedLoader<Arguments, Value> {
  const loaders = new Map<string, DataLoader<Id, Value>>();
  return (args) => {
    const name = nameOfArguments(args);
    const loader = loaders.get(name) ?? new DataLoader((parentIds) => loadMany(parentIds, args));
    loaders.set(name, loader);
    return loader;
  };
}

function nameOfPage({ request, include }: NestedPage<object, string>): string {
  return `${include.join()} ${nameOf(request)}`;
}

const names = new WeakMap<object, string>();
const maxNameLength = 256;

/** A short name of the arguments, made once for all parents: the arguments can be as long as a request. */
function nameOf(args: object | null | undefined): string {
  if (args === null || args === undefined) return '';
  let name = names.get(args);
  if (name === undefined) {
    name = JSON.stringify(args);
    if (name.length > maxNameLength) name = hash('sha256', name);
    names.set(args, name);
  }
  return name;
}
