import { InputCheck } from '../input.ts';
import { pageOf, parseKeyset, type Keyset, type ListRequest, type Page } from '../page.ts';
import type { PetStatus } from '../pets/pet.entity.ts';
import { findByIds, getById } from '../reads.ts';
import { choiceRule, quantityBoundRule, stockQuantityRule } from '../rules.ts';
import { lockById, type Expectation, type UnitOfWork } from '../unit-of-work.ts';
import { InventoryItem } from './inventory-item.entity.ts';
import {
  inventorySorting,
  type InventoryFilter,
  type InventoryReads,
  type InventorySortField,
} from './inventory-item.reads.ts';

export interface InventoryChanges {
  readonly quantity: number;
}

export interface InventoryFilterInput {
  readonly statusIn?: readonly PetStatus[] | null | undefined;
  readonly quantityAtLeast?: number | null | undefined;
  readonly quantityAtMost?: number | null | undefined;
}

export type InventoryListRequest = ListRequest<InventoryFilterInput, InventorySortField>;

const noun = 'inventory item';

/** The items come and go with their pets; only their quantity is anybody's to change. */
export class InventoryService {
  readonly #unitOfWork: UnitOfWork;
  readonly #reads: InventoryReads;

  constructor(unitOfWork: UnitOfWork, reads: InventoryReads) {
    this.#unitOfWork = unitOfWork;
    this.#reads = reads;
  }

  /** Throws NOT_FOUND. */
  get(petId: string): Promise<InventoryItem> {
    return getById(this.#reads, noun, petId);
  }

  findMany(petIds: readonly string[]): Promise<(InventoryItem | null)[]> {
    return findByIds(this.#reads, petIds);
  }

  async list(request: InventoryListRequest, maxSize?: number): Promise<Page<InventoryItem>> {
    const { filter, keyset } = parseRequest(request, maxSize);
    return pageOf(inventorySorting, keyset, await this.#reads.slice(filter, keyset));
  }

  async count(filter: InventoryListRequest['filter']): Promise<number> {
    return this.#reads.count(parseRequest({ filter }).filter);
  }

  async update(
    petId: string,
    changes: InventoryChanges,
    isExpected?: Expectation<InventoryItem>,
  ): Promise<InventoryItem> {
    const check = new InputCheck();
    const quantity = check.required('quantity', changes.quantity, stockQuantityRule);
    check.throwIfRefused();
    return this.#unitOfWork(async (em) =>
      Object.assign(await lockById(em, InventoryItem, noun, petId, isExpected), { quantity }),
    );
  }
}

function parseRequest(
  request: InventoryListRequest,
  maxSize?: number,
): {
  filter: InventoryFilter;
  keyset: Keyset<InventorySortField>;
} {
  const check = new InputCheck();
  const keyset = parseKeyset(inventorySorting, request, check, maxSize);
  const { statusIn, quantityAtLeast, quantityAtMost } = request.filter ?? {};
  const filter = {
    statusIn: check.optional('filter.statusIn', statusIn, choiceRule<PetStatus>()),
    quantityAtLeast: check.optional('filter.quantityAtLeast', quantityAtLeast, quantityBoundRule),
    quantityAtMost: check.optional('filter.quantityAtMost', quantityAtMost, quantityBoundRule),
  };
  check.throwIfRefused();
  return { filter, keyset };
}
