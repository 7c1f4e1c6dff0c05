import { Field, ID, ObjectType } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import type { CategoryChanges, NewCategory } from '../../domain/categories/category.service.ts';
import type { categoryFilter, CategorySortField } from '../../domain/categories/category.store.ts';
import { connectionArgs } from '../connections/connection.args.ts';
import { connectionType } from '../connections/connection.type.ts';
import { NodeType } from '../node/node.type.ts';
import { CreateInput, FilterInput, RowToChange, descriptions, UpdateInput } from '../noun/noun.type.ts';
import { NullRemoves } from '../safe-writes/input-fingerprint.ts';

/** Its nested fields are in the resolver. */
@ObjectType('Category', { description: 'A kind of animal.', implements: NodeType, simpleResolvers: true })
export class CategoryType implements Pick<Category, 'id' | 'name' | 'description'> {
  @Field(() => ID, { description: descriptions.id })
  id!: Category['id'];

  @Field(() => String, { description: 'What the kind is called.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'A short text about it.' })
  description!: string | null;
}

export const CategoryConnectionType = connectionType<Category>('Category', () => CategoryType);

@CreateInput('Category', 'category')
export class CreateCategoryInput implements NewCategory {
  @Field(() => String, { description: descriptions.name })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'At most 2,000 characters; of the control characters only tab and line breaks.',
  })
  description?: string | null;
}

@UpdateInput('Category', 'category')
export class UpdateCategoryInput extends RowToChange('category') implements CategoryChanges {
  @Field(() => String, { nullable: true, description: descriptions.newName })
  name?: string | null;

  @NullRemoves()
  @Field(() => String, { nullable: true, description: 'A new description; null removes it.' })
  description?: string | null;
}

@FilterInput<typeof categoryFilter>('Category', 'categories')
class CategoryFilterInput {
  @Field(() => String, { nullable: true, description: descriptions.nameContains })
  nameContains?: string | null;
}

export const CategoryConnectionArgs = connectionArgs<CategorySortField>('Category', CategoryFilterInput, {
  ID: descriptions.byId,
  NAME: descriptions.byName,
});
