import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';

import type { FilterRequest } from '../../domain/filter.ts';
import type { SortFieldOf } from '../../domain/page.ts';
import type { inventoryList } from '../../domain/inventory/inventory-item.store.ts';
import type { PetStatus } from '../../domain/pets/pet.entity.ts';
import { ConnectionArgs } from '../connections/connection.args.ts';
import { PetStatusEnum } from '../pets/pet.type.ts';
import { ConditionalInput } from '../safe-writes/conditional.input.ts';

@InputType('InventoryFilter', { description: 'Which items to list: those that match every given field.' })
class InventoryFilterInput implements FilterRequest<(typeof inventoryList)['filter']> {
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

@ArgsType()
export class InventoryConnectionArgs extends ConnectionArgs<InventoryFilterInput, SortFieldOf<typeof inventoryList>>(
  'Inventory',
  InventoryFilterInput,
  {
    PET_ID: { description: "By the pet's id: the order of creation." },
    QUANTITY: { description: 'By how many are in stock.' },
  },
) {}

@InputType({ description: 'A new stock count.' })
export class UpdateInventoryInput extends ConditionalInput {
  @Field(() => ID, { description: 'The pet whose stock it is.' })
  petId!: string;

  @Field(() => Int, { description: 'How many are in stock now, 0 or more.' })
  quantity!: number;
}
