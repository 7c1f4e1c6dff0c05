import { Field, ID, ObjectType } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import { NodeType } from '../node/node.type.ts';
import { common, nounInputs, nounList } from '../noun/noun.type.ts';

/** Its nested fields are in the resolver. */
@ObjectType('Category', { description: 'A kind of animal.', implements: NodeType, simpleResolvers: true })
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
