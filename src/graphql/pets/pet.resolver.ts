import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';

import type { Category } from '../../domain/categories/category.entity.ts';
import type { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import type { OrderListRequest } from '../../domain/orders/order.service.ts';
import { orderRelations, type OrderRow } from '../../domain/orders/order.store.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { petRelations } from '../../domain/pets/pet.store.ts';
import { CategoryType } from '../categories/category.type.ts';
import { connectionOf, requestFor, type Connection } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { relationsOf, ToOne } from '../field-marks.ts';
import { InventoryItemType } from '../inventory/inventory-item.type.ts';
import { nounResolvers } from '../noun/noun.resolver.ts';
import { OrderConnectionArgs, OrderConnectionType } from '../orders/order.type.ts';
import { CreatePetInput, PetConnectionArgs, PetConnectionType, PetType, UpdatePetInput } from './pet.type.ts';

const pet = { noun: 'pet', type: () => PetType, relations: petRelations } as const;

@Resolver(() => PetType)
class PetResolver {
  @ToOne()
  @FieldResolver(() => CategoryType, { nullable: true, description: 'The category that it belongs to.' })
  category(@Root() { categoryId }: Pet, @Ctx() { loaders }: GraphQLContext): Promise<Category | null> {
    return loaders.byId('category').load(categoryId);
  }

  @ToOne()
  @FieldResolver(() => InventoryItemType, { nullable: true, description: 'Its stock.' })
  inventory(@Root() { id }: Pet, @Ctx() { loaders }: GraphQLContext): Promise<InventoryItem | null> {
    return loaders.byId('inventory').load(id);
  }

  @FieldResolver(() => OrderConnectionType, { nullable: true, description: 'The orders for it, page by page.' })
  async orders(
    @Root() { id }: Pet,
    @Args(() => OrderConnectionArgs) request: OrderListRequest,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<OrderRow> | null> {
    const include = relationsOf(info, orderRelations);
    const page = await loaders.ordersByPet({ request: requestFor(request, info), include }).load(id);
    return page && connectionOf(page, () => loaders.orderCountByPet(request.filter).load(id), include);
  }
}

export const petResolvers = [
  ...nounResolvers({
    ...pet,
    connection: PetConnectionType,
    args: PetConnectionArgs,
    createInput: CreatePetInput,
    updateInput: UpdatePetInput,
    descriptions: { create: 'Adds a pet to the store, with an empty inventory item.' },
    deletion: {
      description: 'Deletes a pet with its inventory item. CONFLICT while there are orders for it.',
      fieldDescription: 'The id of the deleted pet, whose inventory item is deleted too.',
    },
  }),
  PetResolver,
];
