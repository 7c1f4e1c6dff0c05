import { compareIds } from '../id.ts';
import { NounService } from '../noun.service.ts';
import { nouns } from '../nouns.ts';
import type { Page, PageArguments } from '../page.ts';
import type { Reference } from '../reference.ts';
import { anyRule, nameRule } from '../rules.ts';
import type { Include, UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { refersTo, required, withDefault, type ChangesOf, type NewOf } from '../written-fields.ts';
import type { PetStatus } from './pet.entity.ts';
import type { PetRelation, PetRow, PetStore } from './pet.store.ts';

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

const petKind = {
  ...nouns.pet,
  noun: 'pet',
  fields,
  conflict: (id: string) => `Pet ${id} has orders: cancel them or change their petId first.`,
};

/** Every pet has a stock item from the start, empty. */
const newStock = { quantity: 0 };

/** A pet's inventory item is deleted with it. */
export class PetService extends NounService<PetRow, typeof petKind, PetRelation> {
  override readonly kind = petKind;

  protected override storeIn({ pets }: Stores): PetStore {
    return pets;
  }

  /** A page of the existing pets with these ids, each once, ordered by id. */
  async pick(ids: readonly string[], { status, ...page }: PetPickRequest): Promise<Page<PetRow>> {
    const { keyset } = this.parse(page);
    const { after, limit } = keyset;
    const found = (await this.findMany([...new Set(ids)]))
      .filter((pet) => pet !== null)
      .filter((pet) => status === undefined || pet.status === status)
      .filter((pet) => after === undefined || compareIds(pet.id, after.id) > 0)
      .toSorted((a, b) => compareIds(a.id, b.id));
    return this.pageOf(keyset, { rows: found.slice(0, limit), hasMore: found.length > limit });
  }

  create(input: NewOf<typeof fields>, include?: Include<PetRelation>): Promise<PetRow> {
    return this.creation(input, (row) => this.stores.pets.insert({ ...row, inventory: newStock }, include));
  }

  update(id: string, changes: ChangesOf<typeof fields>, options?: UpdateOptions<PetRelation>): Promise<PetRow> {
    return this.change(id, changes, options);
  }

  /** Throws CONFLICT while the pet has orders. */
  delete(id: string, precondition?: Precondition): Promise<void> {
    return this.deletion(id, { precondition }, ({ pets }, petId) => pets.delete(petId));
  }
}
