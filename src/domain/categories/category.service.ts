import type { FilterFields } from '../filter.ts';
import { PlainNounService } from '../noun.service.ts';
import { sortedById } from '../page.ts';
import { descriptionRule, nameRule, searchTextRule } from '../rules.ts';
import { optional, required } from '../written-fields.ts';
import { Category, categoryRepresentation } from './category.entity.ts';

export const categoryKind = {
  noun: 'category',
  entity: Category,
  representation: categoryRepresentation,
  fields: { name: required(nameRule), description: optional(descriptionRule) },
  filter: {
    nameContains: { property: 'name', comparison: 'contains', rule: searchTextRule },
  } satisfies FilterFields<Category>,
  sorting: sortedById(Category, 'categories', { NAME: { type: 'text', property: 'name' } }),
  conflict: (id: string) => `Category ${id} has pets: delete them or move them to another category first.`,
};

export class CategoryService extends PlainNounService<typeof categoryKind> {
  protected override readonly kind = categoryKind;
}
