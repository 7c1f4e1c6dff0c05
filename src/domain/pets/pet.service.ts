import { compareIds } from '../id.ts';
import { PlainNounService } from '../noun.service.ts';
import { pageOf, type Page, type PageArguments } from '../page.ts';
import type { Reference } from '../reference.ts';
import { anyRule, nameRule } from '../rules.ts';
import type { Include } from '../store.ts';
import { refersTo, required, withDefault, type NewOf } from '../written-fields.ts';
import { Pet, petRepresentation, type PetStatus } from './pet.entity.ts';
import { petFilter, petSorting, type PetRelation, type PetRow, type PetStore } from './pet.store.ts';

const category: Reference = { noun: 'category', target: ({ categories }) => categories };
const fields = {
  name: required(nameRule),
  categoryId: refersTo(category),
  status: withDefault(anyRule<PetStatus>(), 'available'),
};

/** Picks pets by their ids; `first` and `after` page as in every list. */
export interface PetPickRequest extends Pick<PageArguments, 'first' | 'after'> {
  readonly status?: PetStatus | undefined;
}

export const petKind = {
  noun: 'pet',
  entity: Pet,
  representation: petRepresentation,
  fields,
  filter: petFilter,
  sorting: petSorting,
  conflict: (id: string) => `Pet ${id} has orders: cancel them or change their petId first.`,
};

/** Every pet has a stock item from the start, empty. */
const newStock = { quantity: 0 };

/** A pet's inventory item is deleted with it. */
export class PetService extends PlainNounService<typeof petKind, PetStore> {
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

  override create(input: NewOf<typeof fields>, include?: Include<PetRelation>): Promise<PetRow> {
    return this.creation(input, (row) => this.store.insert({ ...row, inventory: newStock }, include));
  }
}
