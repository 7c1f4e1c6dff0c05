import { defineEntity, p } from '@mikro-orm/core';

import type { Id } from '../id.ts';

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
