import { ArgsType, Field, ID, InputType } from 'type-graphql';

import type { categoryList } from '../../domain/categories/category.store.ts';
import type { FilterRequest } from '../../domain/filter.ts';
import type { SortFieldOf } from '../../domain/page.ts';
import { ConnectionArgs } from '../connections/connection.args.ts';
import { common } from '../descriptions.ts';
import { ConditionalInput } from '../safe-writes/conditional.input.ts';
import { NullRemoves } from '../safe-writes/input-fingerprint.ts';

@InputType('CategoryFilter', { description: 'Which categories to list: those that match every given field.' })
class CategoryFilterInput implements FilterRequest<(typeof categoryList)['filter']> {
  @Field(() => String, { nullable: true, description: common.nameContains })
  nameContains?: string | null;
}

@ArgsType()
export class CategoryConnectionArgs extends ConnectionArgs<CategoryFilterInput, SortFieldOf<typeof categoryList>>(
  'Category',
  CategoryFilterInput,
  { ID: common.byId, NAME: common.byName },
) {}

@InputType({ description: 'A new category.' })
export class CreateCategoryInput {
  @Field(() => String, { description: common.newName })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'At most 2,000 characters; of the control characters only tab and line breaks.',
  })
  description?: string | null;
}

@InputType({ description: 'Changes of a category: omitted fields stay unchanged. At least one is required.' })
export class UpdateCategoryInput extends ConditionalInput {
  @Field(() => ID, { description: 'The category to change.' })
  id!: string;

  @Field(() => String, { nullable: true, description: common.changedName })
  name?: string | null;

  @NullRemoves()
  @Field(() => String, { nullable: true, description: 'A new description; null removes it.' })
  description?: string | null;
}

@InputType({ description: 'Which category to delete.' })
export class DeleteCategoryInput extends ConditionalInput {
  @Field(() => ID, { description: 'The category to delete.' })
  id!: string;
}
