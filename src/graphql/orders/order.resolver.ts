import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';

import type { Order } from '../../domain/orders/order.entity.ts';
import { orderRelations } from '../../domain/orders/order.store.ts';
import type { Pet } from '../../domain/pets/pet.entity.ts';
import type { GraphQLContext } from '../context.ts';
import { ToOne } from '../field-marks.ts';
import { nounResolvers } from '../noun/noun.resolver.ts';
import { PetType } from '../pets/pet.type.ts';
import {
  CreateOrderInput,
  OrderConnectionArgs,
  OrderConnectionType,
  OrderType,
  UpdateOrderInput,
} from './order.type.ts';

const order = { noun: 'order', type: () => OrderType, relations: orderRelations } as const;

@Resolver(() => OrderType)
class OrderResolver {
  @ToOne()
  @FieldResolver(() => PetType, { nullable: true, description: 'The pet that is ordered.' })
  async pet(@Root() { petId }: Order, @Ctx() { loaders }: GraphQLContext): Promise<Pet | null> {
    return petId === null || petId === undefined ? null : loaders.byId('pet').load(petId);
  }
}

export const orderResolvers = [
  ...nounResolvers({
    ...order,
    connection: OrderConnectionType,
    args: OrderConnectionArgs,
    createInput: CreateOrderInput,
    updateInput: UpdateOrderInput,
    descriptions: {
      create: 'Places an order.',
      updateRefusal: '; CONFLICT when a complete one would become incomplete',
    },
    deletion: {
      verb: 'cancel',
      field: 'cancelledOrderId',
      description: 'Cancels an order, which deletes it. CONFLICT when it is complete: then it has shipped.',
      carryOut: (orders, id, precondition) => orders.cancelOrder(id, precondition),
    },
  }),
  OrderResolver,
];
