import { DomainError } from '../errors.ts';
import { compareIds, type Id } from '../id.ts';
import { InputCheck, omitUndefined } from '../input.ts';
import {
  pageOf,
  parseListRequest,
  type ListOptions,
  type ListRequest,
  type Page,
  type PageArguments,
} from '../page.ts';
import { Reference, throwIfRefused, writeReferring } from '../reference.ts';
import { deleteById, findByIds, getById, updateById } from '../rows.ts';
import { anyRule, choiceRule, idChoiceRule, nameRule, searchTextRule } from '../rules.ts';
import { ForeignKeyViolation, type Include, type UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { petRepresentation, type PetStatus } from './pet.entity.ts';
import { petSorting, type PetFilter, type PetRelation, type PetRow, type PetSortField } from './pet.store.ts';

export interface NewPet {
  readonly name: string;
  readonly categoryId: string;
  readonly status?: PetStatus | null | undefined;
}

/** An undefined property stays unchanged. */
export interface PetChanges {
  readonly name?: string | null | undefined;
  readonly categoryId?: string | null | undefined;
  readonly status?: PetStatus | null | undefined;
}

export interface PetFilterRequest {
  readonly statusIn?: readonly PetStatus[] | null | undefined;
  readonly categoryIdIn?: readonly string[] | null | undefined;
  readonly nameContains?: string | null | undefined;
}

/** Picks pets by their ids; `first` and `after` page as in every list. */
export interface PetPickRequest extends Pick<PageArguments, 'first' | 'after'> {
  readonly status?: PetStatus | undefined;
}

export type PetListRequest = ListRequest<PetFilterRequest, PetSortField>;

const kind = { noun: 'pet', storeOf: ({ pets }: Stores) => pets, representation: petRepresentation };
const category = new Reference('categoryId', 'category', ({ categories }) => categories);

/** Every pet has a stock item from the start, empty. */
const newStock = { quantity: 0 };

export class PetService {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Throws NOT_FOUND. */
  get(id: string): Promise<PetRow> {
    return getById(this.#stores, kind, id);
  }

  findMany(ids: readonly string[], include?: Include<PetRelation>): Promise<(PetRow | null)[]> {
    return findByIds(this.#stores.pets, ids, include);
  }

  async list(request: PetListRequest, { include }: ListOptions<PetRelation> = {}): Promise<Page<PetRow>> {
    const { filter, keyset } = parseRequest(request);
    return pageOf(petSorting, keyset, await this.#stores.pets.page(filter, keyset, include));
  }

  /** A page of the existing pets with these ids, each once, ordered by id. */
  async pick(ids: readonly string[], { status, ...page }: PetPickRequest): Promise<Page<PetRow>> {
    const { keyset } = parseRequest(page);
    const { after, limit } = keyset;
    const found = (await this.findMany([...new Set(ids)]))
      .filter((pet) => pet !== null)
      .filter((pet) => status === undefined || pet.status === status)
      .filter((pet) => after === undefined || compareIds(pet.id, after.id) > 0)
      .toSorted((a, b) => compareIds(a.id, b.id));
    return pageOf(petSorting, keyset, { rows: found.slice(0, limit), hasMore: found.length > limit });
  }

  /** The same page for each category, in the order of the categories. */
  async listPerCategory(
    categoryIds: readonly Id[],
    request: PetListRequest,
    { include }: ListOptions<PetRelation> = {},
  ): Promise<Page<PetRow>[]> {
    const { filter, keyset } = parseRequest(request);
    const slices = await this.#stores.pets.pagePerCategory(categoryIds, filter, keyset, include);
    return slices.map((slice) => pageOf(petSorting, keyset, slice));
  }

  async count(filter: PetListRequest['filter']): Promise<number> {
    return this.#stores.pets.count(parseRequest({ filter }).filter);
  }

  async countPerCategory(categoryIds: readonly Id[], filter: PetListRequest['filter']): Promise<number[]> {
    return this.#stores.pets.countPerCategory(categoryIds, parseRequest({ filter }).filter);
  }

  async create(input: NewPet, include?: Include<PetRelation>): Promise<PetRow> {
    const check = new InputCheck();
    const data = {
      name: check.required('name', input.name, nameRule),
      categoryId: check.required('categoryId', input.categoryId, category.rule),
      status: check.optional('status', input.status, anyRule<PetStatus>()) ?? 'available',
    };
    const referred = [[category, data.categoryId]] as const;
    await throwIfRefused(check, this.#stores, referred);
    return writeReferring(this.#stores, referred, () =>
      this.#stores.pets.insert({ ...data, inventory: newStock }, include),
    );
  }

  async update(id: string, changes: PetChanges, options: UpdateOptions<PetRelation> = {}): Promise<PetRow> {
    const check = new InputCheck();
    const data = {
      name: check.change('name', changes.name, nameRule),
      categoryId: check.change('categoryId', changes.categoryId, category.rule),
      status: check.change('status', changes.status, anyRule<PetStatus>()),
    };
    check.requireAtLeastOneChange(data);
    const referred = [[category, data.categoryId]] as const;
    await throwIfRefused(check, this.#stores, referred);
    return writeReferring(this.#stores, referred, () =>
      updateById(this.#stores, kind, id, omitUndefined(data), options),
    );
  }

  /** Its inventory item goes with it. Throws CONFLICT while there are orders for it. */
  async delete(id: string, precondition?: Precondition): Promise<void> {
    try {
      await deleteById(this.#stores, kind, id, { precondition });
    } catch (error) {
      if (!(error instanceof ForeignKeyViolation)) throw error;
      throw new DomainError('CONFLICT', `Pet ${id} has orders: cancel them or change their petId first.`);
    }
  }
}

function parseRequest(request: PetListRequest) {
  return parseListRequest(petSorting, request, parseFilter);
}

function parseFilter(check: InputCheck, input: PetFilterRequest): PetFilter {
  return {
    statusIn: check.optional('filter.statusIn', input.statusIn, choiceRule<PetStatus>()),
    categoryIdIn: check.optional('filter.categoryIdIn', input.categoryIdIn, idChoiceRule),
    nameContains: check.optional('filter.nameContains', input.nameContains, searchTextRule),
  };
}
