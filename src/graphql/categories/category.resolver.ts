import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import { change, remove } from '../../domain/named-rows.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { childConnection, PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { NodeResolver } from '../node/node.resolver.ts';
import { PetConnectionArgs } from '../pets/pet.input.ts';
import { PetConnectionType } from '../pets/pet.type.ts';
import { updateOptions } from '../safe-writes/conditional.input.ts';
import { Creates, Writes } from '../safe-writes/root-mutations.ts';
import { NeedsScope } from '../scopes.ts';
import {
  CategoryConnectionArgs,
  CreateCategoryInput,
  DeleteCategoryInput,
  UpdateCategoryInput,
} from './category.input.ts';
import {
  CategoryConnectionType,
  CategoryType,
  CreateCategoryPayload,
  DeleteCategoryPayload,
  UpdateCategoryPayload,
} from './category.type.ts';

@Resolver(() => CategoryType)
export class CategoryResolver extends NodeResolver('category', () => CategoryType) {
  @NeedsScope('read')
  @Query(() => CategoryType, { nullable: true, description: 'The category with this id; null when there is none.' })
  category(
    @Arg('id', () => ID, { description: 'The id of a category.' }) id: string,
    @Ctx() { loaders }: GraphQLContext,
  ): Promise<Category | null> {
    return loaders.byId('category').load(id);
  }

  @NeedsScope('read')
  @Query(() => CategoryConnectionType, {
    nullable: true,
    description: 'The categories of the store, page by page.',
  })
  async categories(
    @Args(() => CategoryConnectionArgs) args: CategoryConnectionArgs,
    @Ctx() { services: { categories } }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<Category>> {
    return new PageConnection(await categories.list(requestFor(args, info)), () => categories.count(args.filter));
  }

  @FieldResolver(() => PetConnectionType, { nullable: true, description: 'The pets that belong to it, page by page.' })
  pets(
    @Root() category: Category,
    @Args(() => PetConnectionArgs) args: PetConnectionArgs,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<Pet> | null> {
    return childConnection(loaders.childrenOf('pet', 'categoryId'), category, args, info);
  }

  @Creates()
  @NeedsScope('write')
  @Mutation(() => CreateCategoryPayload, { nullable: true, description: 'Adds a category to the store.' })
  createCategory(
    @Arg('input', () => CreateCategoryInput, { description: 'The new category.' }) input: CreateCategoryInput,
    @Ctx() context: GraphQLContext,
  ): Promise<CreateCategoryPayload> {
    return context.mutate(async ({ categories }) => ({ category: await categories.create(input) }));
  }

  @Writes(({ id }: UpdateCategoryInput) => [change('category', id)])
  @NeedsScope('write')
  @Mutation(() => UpdateCategoryPayload, {
    nullable: true,
    description: 'Changes a category. NOT_FOUND when there is none with this id.',
  })
  updateCategory(
    @Arg('input', () => UpdateCategoryInput, { description: 'Which category, and what to change.' })
    input: UpdateCategoryInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<UpdateCategoryPayload> {
    const options = updateOptions<never>(input, info);
    return context.mutate(async ({ categories }) => ({
      category: await categories.update(input.id, input, options),
    }));
  }

  @Writes(({ id }: DeleteCategoryInput) => [remove('category', id)])
  @NeedsScope('write')
  @Mutation(() => DeleteCategoryPayload, {
    nullable: true,
    description: 'Deletes a category. CONFLICT while there are pets in it.',
  })
  deleteCategory(
    @Arg('input', () => DeleteCategoryInput, { description: 'Which category.' })
    { id, ifVersion }: DeleteCategoryInput,
    @Ctx() context: GraphQLContext,
  ): Promise<DeleteCategoryPayload> {
    return context.mutate(async ({ categories }) => {
      await categories.delete(id, ifVersion);
      return { deletedCategoryId: id };
    });
  }
}
