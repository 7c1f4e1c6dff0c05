import { defineEntity, p } from '@mikro-orm/core';

import { type Id, jsonId } from '../id.ts';

const CategorySchema = defineEntity({
  name: 'Category',
  tableName: 'categories',
  properties: {
    id: p.bigint('string').$type<Id>().primary().generated('by default as identity'),
    name: p.text(),
    description: p.text().nullable(),
  },
});

/** A kind of animal. */
export class Category extends CategorySchema.class {}
CategorySchema.setClass(Category);

/** The fields that clients see, in REST's form: the version changes with every one of them. */
export function categoryRepresentation({ id, name, description }: Category) {
  return { id: jsonId(id), name, description: description ?? undefined };
}
