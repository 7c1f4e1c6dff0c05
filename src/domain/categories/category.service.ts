import { InputCheck, omitUndefined } from '../input.ts';
import { deleteUnlessNamed, NounService } from '../noun.service.ts';
import { updateById } from '../rows.ts';
import { descriptionRule, nameRule } from '../rules.ts';
import type { UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { categoryRepresentation, type Category } from './category.entity.ts';
import { categoryFilter, categorySorting, type CategorySortField, type CategoryStore } from './category.store.ts';

export interface NewCategory {
  readonly name: string;
  readonly description?: string | null | undefined;
}

/** An undefined property stays unchanged. */
export interface CategoryChanges {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
}

const kind = {
  noun: 'category',
  storeOf: ({ categories }: Stores) => categories,
  representation: categoryRepresentation,
  sorting: categorySorting,
  filter: categoryFilter,
};

export class CategoryService extends NounService<Category, CategoryStore, typeof categoryFilter, CategorySortField> {
  protected override readonly kind = kind;

  async create(input: NewCategory): Promise<Category> {
    const check = new InputCheck();
    const data = {
      name: check.required('name', input.name, nameRule),
      description: check.optional('description', input.description, descriptionRule) ?? null,
    };
    check.throwIfRefused();
    return this.store.insert(data);
  }

  async update(id: string, changes: CategoryChanges, options?: UpdateOptions): Promise<Category> {
    const check = new InputCheck();
    const data = {
      name: check.change('name', changes.name, nameRule),
      description: check.changeOrClear('description', changes.description, descriptionRule),
    };
    check.requireAtLeastOneChange(data);
    check.throwIfRefused();
    return updateById(this.stores, kind, id, omitUndefined(data), options);
  }

  /** Throws CONFLICT while there are pets in it. */
  delete(id: string, precondition?: Precondition): Promise<void> {
    const conflict = `Category ${id} has pets: delete them or move them to another category first.`;
    return deleteUnlessNamed(this.stores, kind, id, precondition, conflict);
  }
}
