import { Field, ID, InputType, Int } from 'type-graphql';

import type { InventoryChanges } from '../../domain/inventory/inventory.service.ts';
import type { inventoryFilter, InventorySortField } from '../../domain/inventory/inventory-item.store.ts';
import type { PetStatus } from '../../domain/pets/pet.entity.ts';
import type { FilterRequest } from '../../domain/filter.ts';
import { connectionArgs, sortInput } from '../connections/connection.args.ts';
import { FilterInput } from '../noun/noun.type.ts';
import { PetStatusEnum } from '../pets/pet.type.ts';
import { ifVersionDescription } from '../version.ts';

@InputType('UpdateInventoryInput', { description: 'A new stock count.' })
export class UpdateInventoryInput implements InventoryChanges {
  @Field(() => ID, { description: 'The pet whose stock it is.' })
  petId!: string;

  @Field(() => String, { nullable: true, description: ifVersionDescription })
  ifVersion?: string | null;

  @Field(() => Int, { description: 'How many are in stock now, 0 or more.' })
  quantity!: number;
}

@FilterInput('Inventory', 'items')
class InventoryFilterInput implements FilterRequest<typeof inventoryFilter> {
  @Field(() => [PetStatusEnum], {
    nullable: true,
    description: 'Its pet has one of these statuses. An empty list matches nothing.',
  })
  statusIn?: PetStatus[] | null;

  @Field(() => Int, { nullable: true, description: 'This many are in stock, or more.' })
  quantityAtLeast?: number | null;

  @Field(() => Int, { nullable: true, description: 'This many are in stock, or fewer.' })
  quantityAtMost?: number | null;
}

const InventorySortInput = sortInput<InventorySortField>('Inventory', {
  PET_ID: { description: "By the pet's id: the order of creation." },
  QUANTITY: { description: 'By how many are in stock.' },
});

export const InventoryConnectionArgs = connectionArgs(InventoryFilterInput, InventorySortInput);
