import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';

import type { OrderListRequest } from '../../domain/orders/order.service.ts';
import type { OrderRelation, OrderRow } from '../../domain/orders/order.store.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { CategoryType } from '../categories/category.type.ts';
import { connectionOf, requestFor, type Connection } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { relationsOf } from '../field-marks.ts';
import { InventoryItemType } from '../inventory/inventory-item.type.ts';
import { nounResolvers, relationResolvers } from '../noun/noun.resolver.ts';
import { orderList } from '../orders/order.type.ts';
import { petInputs, petList, PetType } from './pet.type.ts';

const pet = { noun: 'pet', type: () => PetType } as const;

const relations = relationResolvers(pet, {
  category: { type: () => CategoryType, description: 'The category that it belongs to.' },
  inventory: { type: () => InventoryItemType, description: 'Its stock.' },
});

@Resolver(() => PetType)
class PetResolver {
  @FieldResolver(() => orderList.connection, { nullable: true, description: 'The orders for it, page by page.' })
  async orders(
    @Root() { id }: Pet,
    @Args(() => orderList.args) request: OrderListRequest,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<OrderRow> | null> {
    const include = relationsOf<OrderRelation>(info);
    const page = await loaders.ordersByPet({ request: requestFor(request, info), include }).load(id);
    return page && connectionOf(page, () => loaders.orderCountByPet(request.filter).load(id), include);
  }
}

export const petResolvers = [
  ...relations,
  ...nounResolvers({
    ...pet,
    ...petList,
    ...petInputs,
    descriptions: { create: 'Adds a pet to the store, with an empty inventory item.' },
    deletion: {
      description: 'Deletes a pet with its inventory item. CONFLICT while there are orders for it.',
      fieldDescription: 'The id of the deleted pet, whose inventory item is deleted too.',
    },
  }),
  PetResolver,
];
