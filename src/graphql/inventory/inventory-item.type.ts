import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import type { PetStatus } from '../../domain/pets/pet.entity.ts';
import { connectionType } from '../connections/connection.type.ts';
import { NodeType } from '../node/node.type.ts';
import { PetStatusEnum } from '../pets/pet.type.ts';

/** The field `id` is in the resolver. */
@ObjectType('InventoryItem', {
  description: 'The stock of a pet. It is created and deleted with the pet.',
  implements: NodeType,
})
export class InventoryItemType implements Pick<InventoryItem, 'petId' | 'quantity' | 'status'> {
  @Field(() => ID, { description: 'The id of the pet whose stock this is.' })
  petId!: InventoryItem['petId'];

  @Field(() => Int, { description: 'How many are in stock, 0 or more.' })
  quantity!: InventoryItem['quantity'];

  @Field(() => PetStatusEnum, { description: "The pet's own status." })
  status!: PetStatus;
}

export const InventoryConnectionType = connectionType<InventoryItem>('Inventory', () => InventoryItemType);

@ObjectType({ description: 'The result of `updateInventory`.' })
export class UpdateInventoryPayload {
  @Field(() => InventoryItemType, { description: 'The item as it is now.' })
  inventoryItem!: InventoryItem;
}
