import { Field, ID, ObjectType } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import { connectionType } from '../connections/connection.type.ts';
import { common } from '../descriptions.ts';
import { NodeType } from '../node/node.type.ts';

@ObjectType('Category', { description: 'A kind of animal.', implements: NodeType })
export class CategoryType implements Pick<Category, 'id' | 'name' | 'description'> {
  @Field(() => ID, { description: common.id })
  id!: Category['id'];

  @Field(() => String, { description: 'What the kind is called.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'A short text about it.' })
  description!: string | null;
}

export const CategoryConnectionType = connectionType<Category>('Category', () => CategoryType);

@ObjectType({ description: 'The result of `createCategory`.' })
export class CreateCategoryPayload {
  @Field(() => CategoryType, { description: 'The new category.' })
  category!: Category;
}

@ObjectType({ description: 'The result of `updateCategory`.' })
export class UpdateCategoryPayload {
  @Field(() => CategoryType, { description: 'The category as it is now.' })
  category!: Category;
}

@ObjectType({ description: 'The result of `deleteCategory`.' })
export class DeleteCategoryPayload {
  @Field(() => ID, { description: 'The id of the deleted category.' })
  deletedCategoryId!: string;
}
