import { ForeignKeyConstraintViolationException } from '@mikro-orm/core';

import { DomainError } from '../errors.ts';
import { given, InputCheck } from '../input.ts';
import type { Inserts } from '../inserts.ts';
import { pageOf, parseKeyset, type Keyset, type ListRequest, type Page } from '../page.ts';
import { findByIds, getById } from '../reads.ts';
import { descriptionRule, nameRule, searchTextRule } from '../rules.ts';
import { lockById, type Expectation, type UnitOfWork } from '../unit-of-work.ts';
import { Category } from './category.entity.ts';
import { categorySorting, type CategoryFilter, type CategoryReads, type CategorySortField } from './category.reads.ts';

export interface NewCategory {
  readonly name: string;
  readonly description?: string | null | undefined;
}

/** What is undefined stays as it is. */
export interface CategoryChanges {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
}

export interface CategoryFilterInput {
  readonly nameContains?: string | null | undefined;
}

export type CategoryListRequest = ListRequest<CategoryFilterInput, CategorySortField>;

const noun = 'category';

export class CategoryService {
  readonly #unitOfWork: UnitOfWork;
  readonly #reads: CategoryReads;
  readonly #inserts: Inserts;

  constructor(unitOfWork: UnitOfWork, reads: CategoryReads, inserts: Inserts) {
    this.#unitOfWork = unitOfWork;
    this.#reads = reads;
    this.#inserts = inserts;
  }

  /** Throws NOT_FOUND. */
  get(id: string): Promise<Category> {
    return getById(this.#reads, noun, id);
  }

  findMany(ids: readonly string[]): Promise<(Category | null)[]> {
    return findByIds(this.#reads, ids);
  }

  async list(request: CategoryListRequest, maxSize?: number): Promise<Page<Category>> {
    const { filter, keyset } = parseRequest(request, maxSize);
    return pageOf(categorySorting, keyset, await this.#reads.slice(filter, keyset));
  }

  async count(filter: CategoryListRequest['filter']): Promise<number> {
    return this.#reads.count(parseRequest({ filter }).filter);
  }

  async create(input: NewCategory): Promise<Category> {
    const check = new InputCheck();
    const data = {
      name: check.required('name', input.name, nameRule),
      description: check.optional('description', input.description, descriptionRule) ?? null,
    };
    check.throwIfRefused();
    return { id: await this.#inserts.category(data), ...data };
  }

  async update(id: string, changes: CategoryChanges, isExpected?: Expectation<Category>): Promise<Category> {
    const check = new InputCheck();
    const data = {
      name: check.change('name', changes.name, nameRule),
      description: check.changeOrClear('description', changes.description, descriptionRule),
    };
    check.someChange(data);
    check.throwIfRefused();
    return this.#unitOfWork(async (em) =>
      Object.assign(await lockById(em, Category, noun, id, isExpected), given(data)),
    );
  }

  /** Throws CONFLICT while there are pets in it. */
  async remove(id: string, isExpected?: Expectation<Category>): Promise<void> {
    try {
      await this.#unitOfWork(async (em) => em.remove(await lockById(em, Category, noun, id, isExpected)));
    } catch (error) {
      if (!(error instanceof ForeignKeyConstraintViolationException)) throw error;
      throw new DomainError('CONFLICT', `Category ${id} has pets: delete them or move them to another category first.`);
    }
  }
}

function parseRequest(
  request: CategoryListRequest,
  maxSize?: number,
): { filter: CategoryFilter; keyset: Keyset<CategorySortField> } {
  const check = new InputCheck();
  const keyset = parseKeyset(categorySorting, request, check, maxSize);
  const filter = { nameContains: check.optional('filter.nameContains', request.filter?.nameContains, searchTextRule) };
  check.throwIfRefused();
  return { filter, keyset };
}
