import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { Order } from '../../domain/orders/order.entity.ts';
import { connectionType } from '../connections/connection.type.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { common } from '../descriptions.ts';
import { NodeType } from '../node/node.type.ts';

@ObjectType('Order', { description: 'An order of the store.', implements: NodeType })
export class OrderType implements Pick<Order, 'id' | 'petId' | 'quantity' | 'shipDate' | 'complete'> {
  @Field(() => ID, { description: common.id })
  id!: Order['id'];

  @Field(() => ID, { nullable: true, description: 'The id of the pet that is ordered.' })
  petId!: Order['petId'];

  @Field(() => Int, { nullable: true, description: 'How many units are ordered, 1 or more.' })
  quantity!: number | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ships, or has shipped.' })
  shipDate!: Date | null;

  @Field(() => Boolean, { description: 'Whether it has been fulfilled. A complete order stays complete.' })
  complete!: Order['complete'];
}

export const OrderConnectionType = connectionType<Order>('Order', () => OrderType);

@ObjectType({ description: 'The result of `createOrder`.' })
export class CreateOrderPayload {
  @Field(() => OrderType, { description: 'The new order.' })
  order!: Order;
}

@ObjectType({ description: 'The result of `updateOrder`.' })
export class UpdateOrderPayload {
  @Field(() => OrderType, { description: 'The order as it is now.' })
  order!: Order;
}

@ObjectType({ description: 'The result of `cancelOrder`.' })
export class CancelOrderPayload {
  @Field(() => ID, { description: 'The id of the deleted order.' })
  cancelledOrderId!: string;
}
