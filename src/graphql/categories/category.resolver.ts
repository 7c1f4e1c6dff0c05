import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import type { PetListRequest } from '../../domain/pets/pet.service.ts';
import { petRelations, type PetRow } from '../../domain/pets/pet.store.ts';
import { connectionOf, requestFor, type Connection } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { relationsOf } from '../field-marks.ts';
import { nounResolvers } from '../noun/noun.resolver.ts';
import { PetConnectionArgs, PetConnectionType } from '../pets/pet.type.ts';
import {
  CategoryConnectionArgs,
  CategoryConnectionType,
  CategoryType,
  CreateCategoryInput,
  UpdateCategoryInput,
} from './category.type.ts';

const category = { noun: 'category', type: () => CategoryType } as const;

@Resolver(() => CategoryType)
class CategoryResolver {
  @FieldResolver(() => PetConnectionType, { nullable: true, description: 'The pets that belong to it, page by page.' })
  async pets(
    @Root() { id }: Category,
    @Args(() => PetConnectionArgs) request: PetListRequest,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<PetRow> | null> {
    const include = relationsOf(info, petRelations);
    const page = await loaders.petsByCategory({ request: requestFor(request, info), include }).load(id);
    return page && connectionOf(page, () => loaders.petCountByCategory(request.filter).load(id), include);
  }
}

export const categoryResolvers = [
  ...nounResolvers({
    ...category,
    connection: CategoryConnectionType,
    args: CategoryConnectionArgs,
    createInput: CreateCategoryInput,
    updateInput: UpdateCategoryInput,
    descriptions: { create: 'Adds a category to the store.' },
    deletion: { description: 'Deletes a category. CONFLICT while there are pets in it.' },
  }),
  CategoryResolver,
];
