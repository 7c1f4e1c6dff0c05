import type { Id } from '../id.ts';
import { InputCheck } from '../input.ts';
import { pageOf, parseListRequest, type ListOptions, type ListRequest, type Page } from '../page.ts';
import type { PetStatus } from '../pets/pet.entity.ts';
import { findByIds, getById, updateById } from '../rows.ts';
import { choiceRule, quantityBoundRule, stockQuantityRule } from '../rules.ts';
import type { Include, UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import { inventoryItemRepresentation } from './inventory-item.entity.ts';
import {
  inventorySorting,
  type InventoryFilter,
  type InventoryRelation,
  type InventoryRow,
  type InventorySortField,
} from './inventory-item.store.ts';

export interface InventoryChanges {
  readonly quantity: number;
}

export interface InventoryFilterRequest {
  readonly statusIn?: readonly PetStatus[] | null | undefined;
  readonly quantityAtLeast?: number | null | undefined;
  readonly quantityAtMost?: number | null | undefined;
}

export type InventoryListRequest = ListRequest<InventoryFilterRequest, InventorySortField>;

const kind = {
  noun: 'inventory item',
  storeOf: ({ inventory }: Stores) => inventory,
  representation: inventoryItemRepresentation,
  // An item's version covers the status of its pet.
  lockBefore: ({ pets }: Stores, petId: Id) => pets.lock(petId),
};

/** Items are created and deleted with their pets; only the quantity can be changed. */
export class InventoryService {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Throws NOT_FOUND. */
  get(petId: string): Promise<InventoryRow> {
    return getById(this.#stores, kind, petId);
  }

  findMany(petIds: readonly string[], include?: Include<InventoryRelation>): Promise<(InventoryRow | null)[]> {
    return findByIds(this.#stores.inventory, petIds, include);
  }

  async list(
    request: InventoryListRequest,
    { include, maxSize }: ListOptions<InventoryRelation> = {},
  ): Promise<Page<InventoryRow>> {
    const { filter, keyset } = parseRequest(request, maxSize);
    return pageOf(inventorySorting, keyset, await this.#stores.inventory.page(filter, keyset, include));
  }

  async count(filter: InventoryListRequest['filter']): Promise<number> {
    return this.#stores.inventory.count(parseRequest({ filter }).filter);
  }

  async update(
    petId: string,
    changes: InventoryChanges,
    options?: UpdateOptions<InventoryRelation>,
  ): Promise<InventoryRow> {
    const check = new InputCheck();
    const quantity = check.required('quantity', changes.quantity, stockQuantityRule);
    check.throwIfRefused();
    return updateById(this.#stores, kind, petId, { quantity }, options);
  }
}

function parseRequest(request: InventoryListRequest, maxSize?: number) {
  return parseListRequest(inventorySorting, request, parseFilter, maxSize);
}

function parseFilter(check: InputCheck, input: InventoryFilterRequest): InventoryFilter {
  return {
    statusIn: check.optional('filter.statusIn', input.statusIn, choiceRule<PetStatus>()),
    quantityAtLeast: check.optional('filter.quantityAtLeast', input.quantityAtLeast, quantityBoundRule),
    quantityAtMost: check.optional('filter.quantityAtMost', input.quantityAtMost, quantityBoundRule),
  };
}
