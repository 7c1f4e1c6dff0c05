import { Field, ID, ObjectType } from 'type-graphql';

import type { Order } from '../../domain/orders/order.entity.ts';
import { OrderType } from './order.type.ts';

@ObjectType('CreateOrderPayload', { description: 'The result of `createOrder`.', simpleResolvers: true })
export class CreateOrderPayload {
  @Field(() => OrderType, { description: 'The new order.' })
  order!: Order;
}

@ObjectType('UpdateOrderPayload', { description: 'The result of `updateOrder`.', simpleResolvers: true })
export class UpdateOrderPayload {
  @Field(() => OrderType, { description: 'The order as it is now.' })
  order!: Order;
}

@ObjectType('CancelOrderPayload', { description: 'The result of `cancelOrder`.', simpleResolvers: true })
export class CancelOrderPayload {
  @Field(() => ID, { description: 'The id of the deleted order.' })
  cancelledOrderId!: string;
}
