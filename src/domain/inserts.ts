import type { Id } from './id.ts';
import type { PetStatus } from './pets/pet.entity.ts';

/**
 * Adding rows: an interface here, one prepared statement each in `database/inserts.ts`. They answer the new row's id.
 *
 * Violated constraints come as MikroORM's exceptions.
 */
export interface Inserts {
  category(row: { readonly name: string; readonly description: string | null }): Promise<Id>;
  /** Its inventory item comes with it, empty. */
  pet(row: { readonly name: string; readonly categoryId: Id; readonly status: PetStatus }): Promise<Id>;
  order(row: {
    readonly petId: Id | null;
    readonly quantity: number | null;
    readonly shipDate: Date | null;
    readonly complete: boolean;
  }): Promise<Id>;
}
