import type { FilterFields } from '../filter.ts';
import type { Sorting } from '../page.ts';
import { searchTextRule } from '../rules.ts';
import type { NounStore } from '../store.ts';
import type { Category } from './category.entity.ts';

export const categoryFilter = {
  nameContains: { property: 'name', comparison: 'contains', rule: searchTextRule },
} satisfies FilterFields<Category>;

export type CategorySortField = 'ID' | 'NAME';
export const categorySorting: Sorting<Category, CategorySortField> = {
  kind: 'categories',
  idOf: (category) => category.id,
  keys: { ID: null, NAME: { type: 'text', property: 'name' } },
  defaultField: 'ID',
};

export type CategoryStore = NounStore<Category, typeof categoryFilter, CategorySortField>;
