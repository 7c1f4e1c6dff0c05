import { NounService } from '../noun.service.ts';
import { nouns } from '../nouns.ts';
import { descriptionRule, nameRule } from '../rules.ts';
import type { UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { optional, required, type ChangesOf, type NewOf } from '../written-fields.ts';
import type { Category } from './category.entity.ts';
import type { CategoryStore } from './category.store.ts';

const fields = { name: required(nameRule), description: optional(descriptionRule) };

const categoryKind = {
  ...nouns.category,
  noun: 'category',
  fields,
  conflict: (id: string) => `Category ${id} has pets: delete them or move them to another category first.`,
};

export class CategoryService extends NounService<Category, typeof categoryKind> {
  override readonly kind = categoryKind;

  protected override storeIn({ categories }: Stores): CategoryStore {
    return categories;
  }

  create(input: NewOf<typeof fields>): Promise<Category> {
    return this.creation(input, (row) => this.stores.categories.insert(row));
  }

  update(id: string, changes: ChangesOf<typeof fields>, options?: UpdateOptions): Promise<Category> {
    return this.change(id, changes, options);
  }

  /** Throws CONFLICT while the category has pets. */
  delete(id: string, precondition?: Precondition): Promise<void> {
    return this.deletion(id, { precondition }, ({ categories }, categoryId) => categories.delete(categoryId));
  }
}
