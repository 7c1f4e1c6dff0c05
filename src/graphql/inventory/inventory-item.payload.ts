import { Field, ObjectType } from 'type-graphql';

import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { InventoryItemType } from './inventory-item.type.ts';

@ObjectType('UpdateInventoryPayload', { description: 'The result of `updateInventory`.', simpleResolvers: true })
export class UpdateInventoryPayload {
  @Field(() => InventoryItemType, { description: 'The item as it is now.' })
  inventoryItem!: InventoryItem;
}
