import { Field, ID, InputType } from 'type-graphql';

import type { CategoryChanges, CategoryFilterRequest, NewCategory } from '../../domain/categories/category.service.ts';
import { connectionArgs, sortInput } from '../connections/connection.args.ts';
import { NullRemoves } from '../safe-writes/input-fingerprint.ts';
import { ifVersionDescription } from '../version.ts';

@InputType('CreateCategoryInput', { description: 'A new category.' })
export class CreateCategoryInput implements NewCategory {
  @Field(() => String, {
    description: 'What it is called: 1 to 255 characters, no control characters. White space at both ends is cut off.',
  })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'At most 2,000 characters; of the control characters only tab and line breaks.',
  })
  description?: string | null;
}

@InputType('UpdateCategoryInput', {
  description: 'Changes of a category: omitted fields stay unchanged. At least one is required.',
})
export class UpdateCategoryInput implements CategoryChanges {
  @Field(() => ID, { description: 'The category to change.' })
  id!: string;

  @Field(() => String, { nullable: true, description: ifVersionDescription })
  ifVersion?: string | null;

  @Field(() => String, { nullable: true, description: 'A new name, by the same rules as on creation; not null.' })
  name?: string | null;

  @NullRemoves()
  @Field(() => String, { nullable: true, description: 'A new description; null removes it.' })
  description?: string | null;
}

@InputType('DeleteCategoryInput', { description: 'Which category to delete.' })
export class DeleteCategoryInput {
  @Field(() => ID, { description: 'The category to delete.' })
  id!: string;

  @Field(() => String, { nullable: true, description: ifVersionDescription })
  ifVersion?: string | null;
}

@InputType('CategoryFilter', { description: 'Which categories to list: those that match every given field.' })
class CategoryFilterInput implements CategoryFilterRequest {
  @Field(() => String, {
    nullable: true,
    description:
      'The name contains this text of at most 255 characters, without regard to case; `%` and `_` mean themselves.',
  })
  nameContains?: string | null;
}

const CategorySortInput = sortInput('Category', {
  ID: { description: 'By id: the order of creation.' },
  NAME: { description: 'By name, code point by code point.' },
});

export const CategoryConnectionArgs = connectionArgs(CategoryFilterInput, CategorySortInput);
