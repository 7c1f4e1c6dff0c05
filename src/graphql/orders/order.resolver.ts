import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import { change, refer, remove } from '../../domain/named-rows.ts';
import type { Order } from '../../domain/orders/order.entity.ts';
import type { OrderRelation } from '../../domain/orders/order.store.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { PageConnection, requestFor } from '../connections/connection.ts';
import type { GraphQLContext } from '../context.ts';
import { ToOne } from '../field-extensions.ts';
import { NodeResolver } from '../node/node.resolver.ts';
import { PetType } from '../pets/pet.type.ts';
import { relationsOf } from '../relations.ts';
import { updateOptions } from '../safe-writes/conditional.input.ts';
import { Creates, Writes } from '../safe-writes/root-mutations.ts';
import { NeedsScope } from '../scopes.ts';
import { CancelOrderInput, CreateOrderInput, OrderConnectionArgs, UpdateOrderInput } from './order.input.ts';
import {
  CancelOrderPayload,
  CreateOrderPayload,
  OrderConnectionType,
  OrderType,
  UpdateOrderPayload,
} from './order.type.ts';

@Resolver(() => OrderType)
export class OrderResolver extends NodeResolver('order', () => OrderType) {
  @NeedsScope('read')
  @Query(() => OrderType, { nullable: true, description: 'The order with this id; null when there is none.' })
  order(
    @Arg('id', () => ID, { description: 'The id of an order.' }) id: string,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Order | null> {
    return loaders.byId('order', relationsOf(info)).load(id);
  }

  @NeedsScope('read')
  @Query(() => OrderConnectionType, { nullable: true, description: 'The orders of the store, page by page.' })
  async orders(
    @Args(() => OrderConnectionArgs) args: OrderConnectionArgs,
    @Ctx() { services: { orders } }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<PageConnection<Order>> {
    const include = relationsOf<OrderRelation>(info);
    const page = await orders.list(requestFor(args, info), { include });
    return new PageConnection(page, () => orders.count(args.filter), include);
  }

  @ToOne()
  @FieldResolver(() => PetType, { nullable: true, description: 'The pet that is ordered.' })
  pet(@Root() { petId }: Order, @Ctx() { loaders }: GraphQLContext): Promise<Pet | null> | null {
    return petId === null || petId === undefined ? null : loaders.byId('pet').load(petId);
  }

  @Creates(({ petId }: CreateOrderInput) => [refer('pet', petId)])
  @NeedsScope('write')
  @Mutation(() => CreateOrderPayload, { nullable: true, description: 'Places an order.' })
  createOrder(
    @Arg('input', () => CreateOrderInput, { description: 'The new order.' }) input: CreateOrderInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<CreateOrderPayload> {
    return context.mutate(async ({ orders }) => ({ order: await orders.create(input, relationsOf(info)) }));
  }

  @Writes(({ id, petId }: UpdateOrderInput) => [change('order', id), refer('pet', petId)])
  @NeedsScope('write')
  @Mutation(() => UpdateOrderPayload, {
    nullable: true,
    description:
      'Changes an order. NOT_FOUND when there is none with this id; CONFLICT when a complete one would become incomplete.',
  })
  updateOrder(
    @Arg('input', () => UpdateOrderInput, { description: 'Which order, and what to change.' })
    input: UpdateOrderInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<UpdateOrderPayload> {
    const options = updateOptions<OrderRelation>(input, info);
    return context.mutate(async ({ orders }) => ({ order: await orders.update(input.id, input, options) }));
  }

  @Writes(({ id }: CancelOrderInput) => [remove('order', id)])
  @NeedsScope('write')
  @Mutation(() => CancelOrderPayload, {
    nullable: true,
    description: 'Cancels an order, which deletes it. CONFLICT when it is complete: then it has shipped.',
  })
  cancelOrder(
    @Arg('input', () => CancelOrderInput, { description: 'Which order.' }) { id, ifVersion }: CancelOrderInput,
    @Ctx() context: GraphQLContext,
  ): Promise<CancelOrderPayload> {
    return context.mutate(async ({ orders }) => {
      await orders.cancelOrder(id, ifVersion);
      return { cancelledOrderId: id };
    });
  }
}
