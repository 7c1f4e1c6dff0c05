import { defineEntity, p } from '@mikro-orm/core';

import { type Id, jsonId } from '../id.ts';
import { Pet } from '../pets/pet.entity.ts';

const OrderSchema = defineEntity({
  name: 'Order',
  tableName: 'orders',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    petId: () => p.manyToOne(Pet).mapToPk().fieldName('pet_id').nullable(),
    quantity: p.integer().nullable(),
    shipDate: p.datetime(3).fieldName('ship_date').nullable(),
    complete: p.boolean().default(false),
  },
});

/** An order of the store; a complete one has shipped, and stays. */
export class Order extends OrderSchema.class {}
OrderSchema.setClass(Order);

/** The fields that clients see, in REST's form: the version changes with every one of them. */
export function orderRepresentation({ id, petId, quantity, shipDate, complete }: Order) {
  return {
    id: jsonId(id),
    petId: jsonId(petId),
    quantity: quantity ?? undefined,
    shipDate: shipDate?.toISOString(),
    complete,
  };
}
