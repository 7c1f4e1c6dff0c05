import { Field, ID, Int, ObjectType } from 'type-graphql';

import type { Order } from '../../domain/orders/order.entity.ts';
import type { NewOrder, OrderChanges } from '../../domain/orders/order.service.ts';
import type { orderFilter, OrderSortField } from '../../domain/orders/order.store.ts';
import { connectionArgs } from '../connections/connection.args.ts';
import { connectionType } from '../connections/connection.type.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { NodeType } from '../node/node.type.ts';
import { CreateInput, FilterInput, RowToChange, descriptions, UpdateInput } from '../noun/noun.type.ts';
import { DefaultsTo, NullRemoves } from '../safe-writes/input-fingerprint.ts';

/** Its nested field is in the resolver. */
@ObjectType('Order', { description: 'An order of the store.', implements: NodeType, simpleResolvers: true })
export class OrderType implements Pick<Order, 'id' | 'petId' | 'quantity' | 'shipDate' | 'complete'> {
  @Field(() => ID, { description: descriptions.id })
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

@CreateInput('Order', 'order', ' Every field may be omitted.')
export class CreateOrderInput implements NewOrder {
  @Field(() => ID, { nullable: true, description: 'The pet that is ordered.' })
  petId?: string | null;

  @Field(() => Int, { nullable: true, description: 'How many units are ordered, 1 or more.' })
  quantity?: number | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ships, in the years 0001 to 9999.' })
  shipDate?: string | null;

  @DefaultsTo(false)
  @Field(() => Boolean, { nullable: true, description: 'Whether it has been fulfilled; false by default.' })
  complete?: boolean | null;
}

@UpdateInput('Order', 'order')
export class UpdateOrderInput extends RowToChange('order') implements OrderChanges {
  @NullRemoves()
  @Field(() => ID, { nullable: true, description: 'The pet that is ordered; null removes it.' })
  petId?: string | null;

  @NullRemoves()
  @Field(() => Int, { nullable: true, description: 'How many units are ordered, 1 or more; null removes it.' })
  quantity?: number | null;

  @NullRemoves()
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ships; null removes it.' })
  shipDate?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether it has been fulfilled; not null. Once true it stays true.',
  })
  complete?: boolean | null;
}

@FilterInput<typeof orderFilter>('Order', 'orders')
class OrderFilterInput {
  @Field(() => [ID], {
    nullable: true,
    description: 'Is for one of these pets, at most 1,000. An empty list matches nothing.',
  })
  petIdIn?: string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it has been fulfilled.' })
  complete?: boolean | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Ships at this time or later.' })
  shipDateFrom?: string | null;

  @Field(() => DateTimeScalar, { nullable: true, description: 'Ships before this time.' })
  shipDateTo?: string | null;
}

export const OrderConnectionArgs = connectionArgs<OrderSortField>('Order', OrderFilterInput, {
  ID: descriptions.byId,
  SHIP_DATE: { description: 'By the time of shipping; orders without one come last.' },
});
