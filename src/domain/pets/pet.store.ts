import type { Category } from '../categories/category.entity.ts';
import type { FilterFields, FilterOf } from '../filter.ts';
import type { InventoryItem } from '../inventory/inventory-item.entity.ts';
import { sortedById } from '../page.ts';
import { choiceRule, idChoiceRule, searchTextRule } from '../rules.ts';
import type { Include, NounStore, RowData } from '../store.ts';
import { Pet, type PetStatus } from './pet.entity.ts';

const petFilter = {
  statusIn: { property: 'status', comparison: 'oneOf', rule: choiceRule<PetStatus>() },
  categoryIdIn: { property: 'categoryId', comparison: 'oneOf', rule: idChoiceRule },
  nameContains: { property: 'name', comparison: 'contains', rule: searchTextRule },
} satisfies FilterFields<Pet>;
export type PetFilter = FilterOf<typeof petFilter>;

export const petSorting = sortedById(Pet, 'pets', { NAME: { type: 'text', property: 'name' } });

export const petList = { filter: petFilter, sorting: petSorting };

export interface PetRelations {
  readonly category: Category;
  readonly inventory: InventoryItem;
}
export type PetRelation = keyof PetRelations;

/** A pet with the related rows that were included and exist. */
export type PetRow = Pet & Partial<PetRelations>;

/** A new pet with its stock: one never exists without the other. */
interface NewPetRow extends RowData<Pet> {
  readonly inventory: RowData<InventoryItem, 'petId' | 'status'>;
}

export interface PetStore extends Omit<NounStore<Pet, typeof petList, PetRelations>, 'insert'> {
  insert(row: NewPetRow, include?: Include<PetRelation>): Promise<PetRow>;
}
