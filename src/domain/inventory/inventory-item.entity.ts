import { defineEntity, p, type Opt } from '@mikro-orm/core';

import { Pet, petStatuses, type PetStatus } from '../pets/pet.entity.ts';

const InventoryItemSchema = defineEntity({
  name: 'InventoryItem',
  tableName: 'inventory',
  properties: {
    petId: () => p.oneToOne(Pet).mapToPk().fieldName('pet_id').primary(),
    quantity: p.integer().default(0),
    /** The pet's own, read from there: one truth, never a second column that drifts. */
    status: p.enum(petStatuses).$type<Opt<PetStatus>>().persist(false),
  },
});

/** The stock of one pet: it comes and goes with the pet. */
export class InventoryItem extends InventoryItemSchema.class {}
InventoryItemSchema.setClass(InventoryItem);
