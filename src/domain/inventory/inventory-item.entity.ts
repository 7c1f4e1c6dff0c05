import { defineEntity, p, type Opt } from '@mikro-orm/core';

import { jsonId } from '../id.ts';
import { Pet, petStatuses, type PetStatus } from '../pets/pet.entity.ts';

const InventoryItemSchema = defineEntity({
  name: 'InventoryItem',
  tableName: 'inventory',
  properties: {
    petId: () => p.oneToOne(Pet).mapToPk().fieldName('pet_id').primary(),
    quantity: p.integer().default(0),
    /** Read from the pet, never stored twice. */
    status: p.enum(petStatuses).$type<Opt<PetStatus>>().persist(false),
  },
});

/** The stock of one pet, inserted and deleted with it. */
export class InventoryItem extends InventoryItemSchema.class {}
InventoryItemSchema.setClass(InventoryItem);

/** The fields that clients see, in REST's form: the version changes with every one of them. */
export function inventoryItemRepresentation({ petId, quantity, status }: InventoryItem) {
  return { petId: jsonId(petId), quantity, status };
}
