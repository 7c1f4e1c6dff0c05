import { Field, ID, ObjectType } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import { CategoryType } from './category.type.ts';

@ObjectType('CreateCategoryPayload', { description: 'The result of `createCategory`.', simpleResolvers: true })
export class CreateCategoryPayload {
  @Field(() => CategoryType, { description: 'The new category.' })
  category!: Category;
}

@ObjectType('UpdateCategoryPayload', { description: 'The result of `updateCategory`.', simpleResolvers: true })
export class UpdateCategoryPayload {
  @Field(() => CategoryType, { description: 'The category as it is now.' })
  category!: Category;
}

@ObjectType('DeleteCategoryPayload', { description: 'The result of `deleteCategory`.', simpleResolvers: true })
export class DeleteCategoryPayload {
  @Field(() => ID, { description: 'The id of the deleted category.' })
  deletedCategoryId!: string;
}
