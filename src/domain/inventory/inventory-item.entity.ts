import { defineEntity, p, type Opt } from '@mikro-orm/core';

import { Pet, type PetStatus } from '../pets/pet.entity.ts';

const InventoryItemSchema = defineEntity({
  name: 'InventoryItem',
  tableName: 'inventory',
  properties: {
    petId: () => p.oneToOne(Pet).mapToPk().fieldName('pet_id').primary(),
    quantity: p.integer().default(0),
    /** The pet's own: one truth, never a second column that drifts. */
    status: p
      .string()
      .$type<Opt<PetStatus>>()
      .formula((item) => `(select status from pets where pets.id = ${item.petId})`),
  },
});

/** The stock of one pet: it comes and goes with the pet. */
export class InventoryItem extends InventoryItemSchema.class {}
InventoryItemSchema.setClass(InventoryItem);
