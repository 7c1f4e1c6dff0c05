import type { FilterRequest } from '../filter.ts';
import { compareIds, type Id } from '../id.ts';
import { deleteUnlessNamed, NounService } from '../noun.service.ts';
import { pageOf, type ListOptions, type ListRequest, type Page, type PageArguments } from '../page.ts';
import { Reference } from '../reference.ts';
import { updateById } from '../rows.ts';
import { anyRule, nameRule } from '../rules.ts';
import type { Include, UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { refersTo, required, withDefault, type ChangesOf, type NewOf } from '../written-fields.ts';
import { Pet, petRepresentation, type PetStatus } from './pet.entity.ts';
import { petFilter, petSorting, type PetRelation, type PetRow, type PetSortField, type PetStore } from './pet.store.ts';

const category = new Reference('categoryId', 'category', ({ categories }) => categories);
const fields = {
  name: required(nameRule),
  categoryId: refersTo(category),
  status: withDefault(anyRule<PetStatus>(), 'available'),
};
export type NewPet = NewOf<typeof fields>;
export type PetChanges = ChangesOf<typeof fields>;

/** Picks pets by their ids; `first` and `after` page as in every list. */
export interface PetPickRequest extends Pick<PageArguments, 'first' | 'after'> {
  readonly status?: PetStatus | undefined;
}

export type PetListRequest = ListRequest<FilterRequest<typeof petFilter>, PetSortField>;

export const petKind = {
  noun: 'pet',
  entity: Pet,
  storeOf: (stores: Stores): PetStore => stores.pets,
  representation: petRepresentation,
  sorting: petSorting,
  filter: petFilter,
};

/** Every pet has a stock item from the start, empty. */
const newStock = { quantity: 0 };

export class PetService extends NounService<PetRow, PetStore, typeof petFilter, PetSortField, PetRelation> {
  protected override readonly kind = petKind;

  /** A page of the existing pets with these ids, each once, ordered by id. */
  async pick(ids: readonly string[], { status, ...page }: PetPickRequest): Promise<Page<PetRow>> {
    const { keyset } = this.parse(page);
    const { after, limit } = keyset;
    const found = (await this.findMany([...new Set(ids)]))
      .filter((pet) => pet !== null)
      .filter((pet) => status === undefined || pet.status === status)
      .filter((pet) => after === undefined || compareIds(pet.id, after.id) > 0)
      .toSorted((a, b) => compareIds(a.id, b.id));
    return pageOf(petSorting, keyset, { rows: found.slice(0, limit), hasMore: found.length > limit });
  }

  /** The same page for each category, in the order of the categories. */
  listPerCategory(
    categoryIds: readonly Id[],
    request: PetListRequest,
    { include }: ListOptions<PetRelation> = {},
  ): Promise<Page<PetRow>[]> {
    return this.listPer(request, (...page) => this.store.pagePerCategory(categoryIds, ...page, include));
  }

  async countPerCategory(categoryIds: readonly Id[], filter: PetListRequest['filter']): Promise<number[]> {
    return this.store.countPerCategory(categoryIds, this.parse({ filter }).filter);
  }

  create(input: NewPet, include?: Include<PetRelation>): Promise<PetRow> {
    return this.creation(fields, input, (row) => this.store.insert({ ...row, inventory: newStock }, include));
  }

  update(id: string, changes: PetChanges, options?: UpdateOptions<PetRelation>): Promise<PetRow> {
    return this.change(fields, changes, (changed) => updateById(this.stores, petKind, id, changed, options));
  }

  /** Its inventory item goes with it. Throws CONFLICT while there are orders for it. */
  delete(id: string, precondition?: Precondition): Promise<void> {
    const conflict = `Pet ${id} has orders: cancel them or change their petId first.`;
    return deleteUnlessNamed(this.stores, petKind, id, precondition, conflict);
  }
}
