import { ForeignKeyConstraintViolationException } from '@mikro-orm/core';

import { Category } from '../categories/category.entity.ts';
import { DomainError } from '../errors.ts';
import { compareIds, type Id } from '../id.ts';
import { given, InputCheck } from '../input.ts';
import type { Inserts } from '../inserts.ts';
import { pageOf, parseKeyset, type Keyset, type ListRequest, type Page, type PageArguments } from '../page.ts';
import { findByIds, getById } from '../reads.ts';
import { Reference } from '../reference.ts';
import { anyRule, choiceRule, idChoiceRule, nameRule, searchTextRule } from '../rules.ts';
import { lockById, type Expectation, type UnitOfWork } from '../unit-of-work.ts';
import { Pet, type PetStatus } from './pet.entity.ts';
import { petSorting, type PetFilter, type PetReads, type PetSortField } from './pet.reads.ts';

export interface NewPet {
  readonly name: string;
  readonly categoryId: string;
  readonly status?: PetStatus | null | undefined;
}

/** What is undefined stays as it is. */
export interface PetChanges {
  readonly name?: string | null | undefined;
  readonly categoryId?: string | null | undefined;
  readonly status?: PetStatus | null | undefined;
}

export interface PetFilterInput {
  readonly statusIn?: readonly PetStatus[] | null | undefined;
  readonly categoryIdIn?: readonly string[] | null | undefined;
  readonly nameContains?: string | null | undefined;
}

/** Picks pets by their ids; `first` and `after` page as in every list. */
export interface PetPickRequest extends Pick<PageArguments, 'first' | 'after'> {
  readonly status?: PetStatus | undefined;
}

export type PetListRequest = ListRequest<PetFilterInput, PetSortField>;

const noun = 'pet';
const category = new Reference('categoryId', Category, 'category');

export class PetService {
  readonly #unitOfWork: UnitOfWork;
  readonly #reads: PetReads;
  readonly #inserts: Inserts;

  constructor(unitOfWork: UnitOfWork, reads: PetReads, inserts: Inserts) {
    this.#unitOfWork = unitOfWork;
    this.#reads = reads;
    this.#inserts = inserts;
  }

  /** Throws NOT_FOUND. */
  get(id: string): Promise<Pet> {
    return getById(this.#reads, noun, id);
  }

  findMany(ids: readonly string[]): Promise<(Pet | null)[]> {
    return findByIds(this.#reads, ids);
  }

  async list(request: PetListRequest): Promise<Page<Pet>> {
    const { filter, keyset } = parseRequest(request);
    return pageOf(petSorting, keyset, await this.#reads.slice(filter, keyset));
  }

  /** A page of those pets that there are among the ids, each once, in the order of their ids. */
  async pick(ids: readonly string[], { status, ...page }: PetPickRequest): Promise<Page<Pet>> {
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
  async listPerCategory(categoryIds: readonly Id[], request: PetListRequest): Promise<Page<Pet>[]> {
    const { filter, keyset } = parseRequest(request);
    const slices = await this.#reads.slicePerParent(categoryIds, filter, keyset);
    return slices.map((slice) => pageOf(petSorting, keyset, slice));
  }

  async count(filter: PetListRequest['filter']): Promise<number> {
    return this.#reads.count(parseRequest({ filter }).filter);
  }

  async countPerCategory(categoryIds: readonly Id[], filter: PetListRequest['filter']): Promise<number[]> {
    return this.#reads.countPerParent(categoryIds, parseRequest({ filter }).filter);
  }

  /** Its inventory item comes with it, empty. */
  async create(input: NewPet): Promise<Pet> {
    const check = new InputCheck();
    const data = {
      name: check.required('name', input.name, nameRule),
      categoryId: check.required('categoryId', input.categoryId, category.rule),
      status: check.optional('status', input.status, anyRule<PetStatus>()) ?? 'available',
    };
    await category.throwIfRefused(check, this.#unitOfWork, data.categoryId);
    return { id: await category.guard(data.categoryId, this.#inserts.pet(data)), ...data };
  }

  async update(id: string, changes: PetChanges, isExpected?: Expectation<Pet>): Promise<Pet> {
    const check = new InputCheck();
    const data = {
      name: check.change('name', changes.name, nameRule),
      categoryId: check.change('categoryId', changes.categoryId, category.rule),
      status: check.change('status', changes.status, anyRule<PetStatus>()),
    };
    check.someChange(data);
    await category.throwIfRefused(check, this.#unitOfWork, data.categoryId);
    const work = this.#unitOfWork(async (em) => {
      await category.requireTarget(em, data.categoryId);
      return Object.assign(await lockById(em, Pet, noun, id, isExpected), given(data));
    });
    return category.guard(data.categoryId, work);
  }

  /** Its inventory item goes with it. Throws CONFLICT while there are orders for it. */
  async remove(id: string, isExpected?: Expectation<Pet>): Promise<void> {
    try {
      await this.#unitOfWork(async (em) => em.remove(await lockById(em, Pet, noun, id, isExpected)));
    } catch (error) {
      if (!(error instanceof ForeignKeyConstraintViolationException)) throw error;
      throw new DomainError('CONFLICT', `Pet ${id} has orders: cancel them or change their petId first.`);
    }
  }
}

function parseRequest(request: PetListRequest): { filter: PetFilter; keyset: Keyset<PetSortField> } {
  const check = new InputCheck();
  const keyset = parseKeyset(petSorting, request, check);
  const { statusIn, categoryIdIn, nameContains } = request.filter ?? {};
  const filter = {
    statusIn: check.optional('filter.statusIn', statusIn, choiceRule<PetStatus>()),
    categoryIdIn: check.optional('filter.categoryIdIn', categoryIdIn, idChoiceRule),
    nameContains: check.optional('filter.nameContains', nameContains, searchTextRule),
  };
  check.throwIfRefused();
  return { filter, keyset };
}
