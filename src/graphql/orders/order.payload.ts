import { Field, ID, ObjectType } from 'type-graphql';

import type { Order } from '../../domain/orders/order.entity.ts';
import { OrderType } from './order.type.ts';

@ObjectType('CreateOrderPayload', { description: 'What `createOrder` answers.', simpleResolvers: true })
export class CreateOrderPayload {
  @Field(() => OrderType, { description: 'The new order.' })
  order!: Order;
}

@ObjectType('UpdateOrderPayload', { description: 'What `updateOrder` answers.', simpleResolvers: true })
export class UpdateOrderPayload {
  @Field(() => OrderType, { description: 'The order as it is now.' })
  order!: Order;
}

@ObjectType('CancelOrderPayload', { description: 'What `cancelOrder` answers.', simpleResolvers: true })
export class CancelOrderPayload {
  @Field(() => ID, { description: 'The id of the order that is gone.' })
  cancelledOrderId!: string;
}
