import { DomainError } from '../errors.ts';
import { InputCheck, omitUndefined } from '../input.ts';
import { pageOf, parseListRequest, type ListOptions, type ListRequest, type Page } from '../page.ts';
import { deleteById, findByIds, getById, updateById } from '../rows.ts';
import { descriptionRule, nameRule, searchTextRule } from '../rules.ts';
import { ForeignKeyViolation, type UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { categoryRepresentation, type Category } from './category.entity.ts';
import { categorySorting, type CategoryFilter, type CategorySortField } from './category.store.ts';

export interface NewCategory {
  readonly name: string;
  readonly description?: string | null | undefined;
}

/** An undefined property stays unchanged. */
export interface CategoryChanges {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
}

export interface CategoryFilterRequest {
  readonly nameContains?: string | null | undefined;
}

export type CategoryListRequest = ListRequest<CategoryFilterRequest, CategorySortField>;

const kind = {
  noun: 'category',
  storeOf: ({ categories }: Stores) => categories,
  representation: categoryRepresentation,
};

export class CategoryService {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Throws NOT_FOUND. */
  get(id: string): Promise<Category> {
    return getById(this.#stores, kind, id);
  }

  findMany(ids: readonly string[]): Promise<(Category | null)[]> {
    return findByIds(this.#stores.categories, ids);
  }

  async list(request: CategoryListRequest, { maxSize }: ListOptions = {}): Promise<Page<Category>> {
    const { filter, keyset } = parseRequest(request, maxSize);
    return pageOf(categorySorting, keyset, await this.#stores.categories.page(filter, keyset));
  }

  async count(filter: CategoryListRequest['filter']): Promise<number> {
    return this.#stores.categories.count(parseRequest({ filter }).filter);
  }

  async create(input: NewCategory): Promise<Category> {
    const check = new InputCheck();
    const data = {
      name: check.required('name', input.name, nameRule),
      description: check.optional('description', input.description, descriptionRule) ?? null,
    };
    check.throwIfRefused();
    return this.#stores.categories.insert(data);
  }

  async update(id: string, changes: CategoryChanges, options?: UpdateOptions): Promise<Category> {
    const check = new InputCheck();
    const data = {
      name: check.change('name', changes.name, nameRule),
      description: check.changeOrClear('description', changes.description, descriptionRule),
    };
    check.requireAtLeastOneChange(data);
    check.throwIfRefused();
    return updateById(this.#stores, kind, id, omitUndefined(data), options);
  }

  /** Throws CONFLICT while there are pets in it. */
  async delete(id: string, precondition?: Precondition): Promise<void> {
    try {
      await deleteById(this.#stores, kind, id, { precondition });
    } catch (error) {
      if (!(error instanceof ForeignKeyViolation)) throw error;
      throw new DomainError('CONFLICT', `Category ${id} has pets: delete them or move them to another category first.`);
    }
  }
}

function parseRequest(request: CategoryListRequest, maxSize?: number) {
  return parseListRequest(categorySorting, request, parseFilter, maxSize);
}

function parseFilter(check: InputCheck, { nameContains }: CategoryFilterRequest): CategoryFilter {
  return {
    nameContains: check.optional('filter.nameContains', nameContains, searchTextRule),
  };
}
