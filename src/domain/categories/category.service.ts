import { deleteUnlessNamed, NounService } from '../noun.service.ts';
import { updateById } from '../rows.ts';
import { descriptionRule, nameRule } from '../rules.ts';
import type { UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { optional, required, type ChangesOf, type NewOf } from '../written-fields.ts';
import { Category, categoryRepresentation } from './category.entity.ts';
import { categoryFilter, categorySorting, type CategorySortField, type CategoryStore } from './category.store.ts';

const fields = { name: required(nameRule), description: optional(descriptionRule) };
export type NewCategory = NewOf<typeof fields>;
export type CategoryChanges = ChangesOf<typeof fields>;

export const categoryKind = {
  noun: 'category',
  entity: Category,
  storeOf: (stores: Stores): CategoryStore => stores.categories,
  representation: categoryRepresentation,
  sorting: categorySorting,
  filter: categoryFilter,
};

export class CategoryService extends NounService<Category, CategoryStore, typeof categoryFilter, CategorySortField> {
  protected override readonly kind = categoryKind;

  create(input: NewCategory): Promise<Category> {
    return this.creation(fields, input, (row) => this.store.insert(row));
  }

  update(id: string, changes: CategoryChanges, options?: UpdateOptions): Promise<Category> {
    return this.change(fields, changes, (changed) => updateById(this.stores, categoryKind, id, changed, options));
  }

  /** Throws CONFLICT while there are pets in it. */
  delete(id: string, precondition?: Precondition): Promise<void> {
    const conflict = `Category ${id} has pets: delete them or move them to another category first.`;
    return deleteUnlessNamed(this.stores, categoryKind, id, precondition, conflict);
  }
}
