import { Field, ID, InputType, Int } from 'type-graphql';

import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import type { PetStatus } from '../../domain/pets/pet.entity.ts';
import { ifVersionDescription, nounList, NounType } from '../noun/noun.type.ts';
import { PetStatusEnum } from '../pets/pet.type.ts';

/** Its `id` is in the resolver. */
@NounType('inventory', 'The stock of a pet. It is created and deleted with the pet.')
export class InventoryItemType implements Pick<InventoryItem, 'petId' | 'quantity' | 'status'> {
  @Field(() => ID, { description: 'The id of the pet whose stock this is.' })
  petId!: InventoryItem['petId'];

  @Field(() => Int, { description: 'How many are in stock, 0 or more.' })
  quantity!: InventoryItem['quantity'];

  @Field(() => PetStatusEnum, { description: "The pet's own status." })
  status!: PetStatus;
}

@InputType('UpdateInventoryInput', { description: 'A new stock count.' })
export class UpdateInventoryInput {
  @Field(() => ID, { description: 'The pet whose stock it is.' })
  petId!: string;

  @Field(() => String, { nullable: true, description: ifVersionDescription })
  ifVersion?: string | null;

  @Field(() => Int, { description: 'How many are in stock now, 0 or more.' })
  quantity!: number;
}

export const inventoryList = nounList('inventory', () => InventoryItemType, {
  name: 'Inventory',
  plural: 'items',
  filter: {
    statusIn: {
      type: () => [PetStatusEnum],
      description: 'Its pet has one of these statuses. An empty list matches nothing.',
    },
    quantityAtLeast: { type: () => Int, description: 'This many are in stock, or more.' },
    quantityAtMost: { type: () => Int, description: 'This many are in stock, or fewer.' },
  },
  sorting: {
    PET_ID: { description: "By the pet's id: the order of creation." },
    QUANTITY: { description: 'By how many are in stock.' },
  },
});
