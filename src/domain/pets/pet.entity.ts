import { defineEntity, p } from '@mikro-orm/core';

import { Category } from '../categories/category.entity.ts';
import { type Id, jsonId } from '../id.ts';

export const petStatuses = ['available', 'pending', 'sold'] as const;

/** Any status may follow any other. */
export type PetStatus = (typeof petStatuses)[number];

const PetSchema = defineEntity({
  name: 'Pet',
  tableName: 'pets',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    name: p.text(),
    status: p.enum(petStatuses).default('available'),
    categoryId: () => p.manyToOne(Category).mapToPk().fieldName('category_id'),
  },
});

/** An animal; it always belongs to a category. */
export class Pet extends PetSchema.class {}
PetSchema.setClass(Pet);

/** The fields that clients see, in REST's form: the version changes with every one of them. */
export function petRepresentation({ id, name, categoryId, status }: Pet) {
  return { id: jsonId(id), name, categoryId: jsonId(categoryId), status };
}
