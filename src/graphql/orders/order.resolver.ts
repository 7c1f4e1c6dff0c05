import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';

import type { Order } from '../../domain/orders/order.entity.ts';
import type { OrderListRequest } from '../../domain/orders/order.service.ts';
import { orderRelations, type OrderRow } from '../../domain/orders/order.store.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import { orderVersion } from '../../domain/orders/order.version.ts';
import { isVersion } from '../../domain/version.ts';
import { connectionOf, requestFor, type Connection } from '../connections/connection.ts';
import { Computed, relationsOf, ToOne } from '../field-marks.ts';
import type { GraphQLContext } from '../context.ts';
import { encodeNodeId } from '../node/node-id.ts';
import { nodeIdDescription } from '../node/node.type.ts';
import { PetType } from '../pets/pet.type.ts';
import { Creates } from '../safe-writes/root-mutations.ts';
import { versionDescription } from '../version.ts';
import { CancelOrderInput, CreateOrderInput, OrderConnectionArgs, UpdateOrderInput } from './order.input.ts';
import {
  CancelOrderPayload,
  CreateOrderPayload,
  OrderConnectionType,
  OrderType,
  UpdateOrderPayload,
} from './order.type.ts';

@Resolver(() => OrderType)
export class OrderResolver {
  @Query(() => OrderType, { nullable: true, description: 'The order with this id; null when there is none.' })
  order(
    @Arg('id', () => ID, { description: 'The id of an order.' }) id: string,
    @Ctx() { loaders }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<OrderRow | null> {
    return loaders.orderById(relationsOf(info, orderRelations)).load(id);
  }

  @Query(() => OrderConnectionType, { nullable: true, description: 'The orders of the store, page by page.' })
  async orders(
    @Args(() => OrderConnectionArgs) request: OrderListRequest,
    @Ctx() { services }: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Connection<OrderRow>> {
    const page = await services.orders.list(requestFor(request, info), { include: relationsOf(info, orderRelations) });
    return connectionOf(page, () => services.orders.count(request.filter));
  }

  @Computed()
  @FieldResolver(() => ID, { description: nodeIdDescription })
  nodeId(@Root() order: Order): string {
    return encodeNodeId('Order', order.id);
  }

  @Computed()
  @FieldResolver(() => String, { description: versionDescription })
  version(@Root() order: Order): string {
    return orderVersion(order);
  }

  @ToOne()
  @FieldResolver(() => PetType, { nullable: true, description: 'The pet that is ordered.' })
  async pet(@Root() { petId }: Order, @Ctx() { loaders }: GraphQLContext): Promise<Pet | null> {
    return petId === null || petId === undefined ? null : loaders.petById().load(petId);
  }

  @Creates()
  @Mutation(() => CreateOrderPayload, { nullable: true, description: 'Places an order.' })
  createOrder(
    @Arg('input', () => CreateOrderInput, { description: 'The new order.' }) input: CreateOrderInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<CreateOrderPayload> {
    const include = relationsOf(info, orderRelations);
    return context.mutate(async ({ orders }) => ({ order: await orders.create(input, include) }));
  }

  @Mutation(() => UpdateOrderPayload, {
    nullable: true,
    description:
      'Changes an order. NOT_FOUND when there is none with this id; CONFLICT when a complete one would become incomplete.',
  })
  updateOrder(
    @Arg('input', () => UpdateOrderInput, { description: 'Which order, and what to change.' }) input: UpdateOrderInput,
    @Ctx() context: GraphQLContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<UpdateOrderPayload> {
    const include = relationsOf(info, orderRelations);
    return context.mutate(async ({ orders }) => ({
      order: await orders.update(input.id, input, {
        include,
        precondition: isVersion(input.ifVersion),
      }),
    }));
  }

  @Mutation(() => CancelOrderPayload, {
    nullable: true,
    description: 'Cancels an order, which deletes it. CONFLICT when it is complete: then it has shipped.',
  })
  cancelOrder(
    @Arg('input', () => CancelOrderInput, { description: 'Which order.' }) { id, ifVersion }: CancelOrderInput,
    @Ctx() context: GraphQLContext,
  ): Promise<CancelOrderPayload> {
    return context.mutate(async ({ orders }) => {
      await orders.cancelOrder(id, isVersion(ifVersion));
      return { cancelledOrderId: id };
    });
  }
}
