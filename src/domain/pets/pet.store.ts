import type { Category } from '../categories/category.entity.ts';
import type { Id } from '../id.ts';
import type { InventoryItem } from '../inventory/inventory-item.entity.ts';
import type { Keyset, Slice, Sorting } from '../page.ts';
import type { Include, ReadStore, RowData, WriteStore } from '../store.ts';
import type { Pet, PetStatus } from './pet.entity.ts';

/** An unset property doesn't filter; an empty list matches nothing. */
export interface PetFilter {
  readonly statusIn?: readonly PetStatus[] | undefined;
  readonly categoryIdIn?: readonly Id[] | undefined;
  /** A literal substring, without regard to case. */
  readonly nameContains?: string | undefined;
}

const petSortFields = ['ID', 'NAME'] as const;
export type PetSortField = (typeof petSortFields)[number];

export const petSorting: Sorting<Pet, PetSortField> = {
  kind: 'pets',
  idOf: (pet) => pet.id,
  keys: { ID: null, NAME: { type: 'text', valueOf: (pet) => pet.name } },
  defaultField: 'ID',
};

interface PetRelations {
  readonly category: Category;
  readonly inventory: InventoryItem;
}
export type PetRelation = keyof PetRelations;
export const petRelations = ['category', 'inventory'] as const satisfies readonly PetRelation[];

/** A pet with the related rows that were included and exist. */
export type PetRow = Pet & Partial<PetRelations>;

/** A new pet with its stock: one never exists without the other. */
interface NewPetRow extends RowData<Pet> {
  readonly inventory: RowData<InventoryItem, 'petId' | 'status'>;
}

export interface PetStore
  extends
    ReadStore<PetRow, PetFilter, PetSortField, PetRelation>,
    Omit<WriteStore<PetRow, RowData<Pet>, PetRelation>, 'insert'> {
  insert(row: NewPetRow, include?: Include<PetRelation>): Promise<PetRow>;
  /**
   * The same page for each category, in the order of the categories; empty for one that doesn't exist. One statement.
   */
  pagePerCategory(
    categoryIds: readonly Id[],
    filter: PetFilter,
    keyset: Keyset<PetSortField>,
    include?: Include<PetRelation>,
  ): Promise<Slice<PetRow>[]>;
  countPerCategory(categoryIds: readonly Id[], filter: PetFilter): Promise<number[]>;
}
