import { Field, ID, ObjectType } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import { connectionType } from '../connections/connection.type.ts';
import { NodeType } from '../node/node.type.ts';

/** Its nested fields are in the resolver. */
@ObjectType('Category', { description: 'A kind of animal.', implements: NodeType, simpleResolvers: true })
export class CategoryType implements Pick<Category, 'id' | 'name' | 'description'> {
  @Field(() => ID, { description: 'Assigned on creation: an int64, the same digits as in REST.' })
  id!: Category['id'];

  @Field(() => String, { description: 'What the kind is called.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'A short text about it.' })
  description!: string | null;
}

export const CategoryConnectionType = connectionType<Category>('Category', () => CategoryType);
