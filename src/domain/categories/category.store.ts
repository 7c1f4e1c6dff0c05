import type { FilterFields } from '../filter.ts';
import { sortedById } from '../page.ts';
import { searchTextRule } from '../rules.ts';
import type { NounStore } from '../store.ts';
import { Category } from './category.entity.ts';

export const categoryList = {
  filter: {
    nameContains: { property: 'name', comparison: 'contains', rule: searchTextRule },
  } satisfies FilterFields<Category>,
  sorting: sortedById(Category, 'categories', { NAME: { type: 'text', property: 'name' } }),
};

export type CategoryStore = NounStore<Category, typeof categoryList>;
