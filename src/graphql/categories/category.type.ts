import { Field, ID } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import { common, nounInputs, nounList, NounType } from '../noun/noun.type.ts';

@NounType('category', 'A kind of animal.')
export class CategoryType implements Pick<Category, 'id' | 'name' | 'description'> {
  @Field(() => ID, { description: common.id })
  id!: Category['id'];

  @Field(() => String, { description: 'What the kind is called.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'A short text about it.' })
  description!: string | null;
}

export const categoryList = nounList('category', () => CategoryType, {
  filter: { nameContains: common.nameContains },
  sorting: { ID: common.byId, NAME: common.byName },
});

export const categoryInputs = nounInputs('category', {
  name: common.name,
  description: {
    type: () => String,
    created: 'At most 2,000 characters; of the control characters only tab and line breaks.',
    changed: 'A new description; null removes it.',
  },
});
