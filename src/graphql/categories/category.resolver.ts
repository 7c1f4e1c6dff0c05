import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import type { CategoryListRequest } from '../../domain/categories/category.service.ts';
import type { PetListRequest } from '../../domain/pets/pet.service.ts';
import { petRelations, type PetRow } from '../../domain/pets/pet.store.ts';
import { categoryVersion } from '../../domain/categories/category.version.ts';
import { isVersion } from '../../domain/version.ts';
import { connectionOf, requestFor, type Connection } from '../connections/connection.ts';
import { Computed, relationsOf } from '../field-marks.ts';
import type { GraphQLContext } from '../context.ts';
import { encodeNodeId } from '../node/node-id.ts';
import { nodeIdDescription } from '../node/node.type.ts';
import { PetConnectionArgs } from '../pets/pet.input.ts';
import { PetConnectionType } from '../pets/pet.type.ts';
import { Creates } from '../safe-writes/root-mutations.ts';
import { versionDescription } from '../version.ts';
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
export class CategoryResolver {
  @Query(() => CategoryType, { nullable: true, description: 'The category with this id; null when there is none.' })
  category(
    @Arg('id', () => ID, { description: 'The id of a category.' }) id: string,
    @Ctx() { loaders }: GraphQLContext,
  ): Promise<Category | null> {
    return loaders.categoryById().load(id);
  }

  @Query(() => CategoryConnectionType, { nullable: true, description: 'The categories of the store, page by page.' })
  async categories(
    @Args(() => CategoryConnectionArgs) request: CategoryListRequest,
    @Ctx() { services }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<Category>> {
    const page = await services.categories.list(requestFor(request, info));
    return connectionOf(page, () => services.categories.count(request.filter));
  }

  @Computed()
  @FieldResolver(() => ID, { description: nodeIdDescription })
  nodeId(@Root() category: Category): string {
    return encodeNodeId('Category', category.id);
  }

  @Computed()
  @FieldResolver(() => String, { description: versionDescription })
  version(@Root() category: Category): string {
    return categoryVersion(category);
  }

  @FieldResolver(() => PetConnectionType, { nullable: true, description: 'The pets that belong to it, page by page.' })
  async pets(
    @Root() category: Category,
    @Args(() => PetConnectionArgs) request: PetListRequest,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<PetRow> | null> {
    const page = await loaders
      .petsByCategory({ request: requestFor(request, info), include: relationsOf(info, petRelations) })
      .load(category.id);
    return page && connectionOf(page, () => loaders.petCountByCategory(request.filter).load(category.id));
  }

  @Creates()
  @Mutation(() => CreateCategoryPayload, { nullable: true, description: 'Adds a category to the store.' })
  createCategory(
    @Arg('input', () => CreateCategoryInput, { description: 'The new category.' }) input: CreateCategoryInput,
    @Ctx() context: GraphQLContext,
  ): Promise<CreateCategoryPayload> {
    return context.mutate(async ({ categories }) => ({ category: await categories.create(input) }));
  }

  @Mutation(() => UpdateCategoryPayload, {
    nullable: true,
    description: 'Changes a category. NOT_FOUND when there is none with this id.',
  })
  updateCategory(
    @Arg('input', () => UpdateCategoryInput, { description: 'Which category, and what to change.' })
    input: UpdateCategoryInput,
    @Ctx() context: GraphQLContext,
  ): Promise<UpdateCategoryPayload> {
    return context.mutate(async ({ categories }) => ({
      category: await categories.update(input.id, input, { precondition: isVersion(input.ifVersion) }),
    }));
  }

  @Mutation(() => DeleteCategoryPayload, {
    nullable: true,
    description: 'Deletes a category. CONFLICT while there are pets in it.',
  })
  deleteCategory(
    @Arg('input', () => DeleteCategoryInput, { description: 'Which category.' }) { id, ifVersion }: DeleteCategoryInput,
    @Ctx() context: GraphQLContext,
  ): Promise<DeleteCategoryPayload> {
    return context.mutate(async ({ categories }) => {
      await categories.delete(id, isVersion(ifVersion));
      return { deletedCategoryId: id };
    });
  }
}
