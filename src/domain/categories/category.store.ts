import type { Sorting } from '../page.ts';
import type { ReadStore, RowData, WriteStore } from '../store.ts';
import type { Category } from './category.entity.ts';

/** An unset property doesn't filter. */
export interface CategoryFilter {
  /** A literal substring, without regard to case. */
  readonly nameContains?: string | undefined;
}

const categorySortFields = ['ID', 'NAME'] as const;
export type CategorySortField = (typeof categorySortFields)[number];

export const categorySorting: Sorting<Category, CategorySortField> = {
  kind: 'categories',
  idOf: (category) => category.id,
  keys: { ID: null, NAME: { type: 'text', valueOf: (category) => category.name } },
  defaultField: 'ID',
};

export interface CategoryStore
  extends ReadStore<Category, CategoryFilter, CategorySortField>, WriteStore<Category, RowData<Category>> {}
