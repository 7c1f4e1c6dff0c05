import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import type { PetListRequest } from '../../domain/pets/pet.service.ts';
import type { PetRelation, PetRow } from '../../domain/pets/pet.store.ts';
import { connectionOf, requestFor, type Connection } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { relationsOf } from '../field-marks.ts';
import { nounResolvers } from '../noun/noun.resolver.ts';
import { petList } from '../pets/pet.type.ts';
import { categoryInputs, categoryList, CategoryType } from './category.type.ts';

@Resolver(() => CategoryType)
class CategoryResolver {
  @FieldResolver(() => petList.connection, { nullable: true, description: 'The pets that belong to it, page by page.' })
  async pets(
    @Root() { id }: Category,
    @Args(() => petList.args) request: PetListRequest,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<PetRow> | null> {
    const include = relationsOf<PetRelation>(info);
    const page = await loaders.petsByCategory({ request: requestFor(request, info), include }).load(id);
    return page && connectionOf(page, () => loaders.petCountByCategory(request.filter).load(id), include);
  }
}

export const categoryResolvers = [
  ...nounResolvers({
    noun: 'category',
    type: () => CategoryType,
    ...categoryList,
    ...categoryInputs,
    deletion: { description: 'Deletes a category. CONFLICT while there are pets in it.' },
  }),
  CategoryResolver,
];
