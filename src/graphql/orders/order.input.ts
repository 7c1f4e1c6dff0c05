import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';

import type { FilterRequest } from '../../domain/filter.ts';
import type { SortFieldOf } from '../../domain/page.ts';
import type { orderList } from '../../domain/orders/order.store.ts';
import { ConnectionArgs } from '../connections/connection.args.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { common } from '../descriptions.ts';
import { ConditionalInput } from '../safe-writes/conditional.input.ts';
import { DefaultsTo, NullRemoves } from '../safe-writes/input-fingerprint.ts';

@InputType('OrderFilter', { description: 'Which orders to list: those that match every given field.' })
class OrderFilterInput implements FilterRequest<(typeof orderList)['filter']> {
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

@ArgsType()
export class OrderConnectionArgs extends ConnectionArgs<OrderFilterInput, SortFieldOf<typeof orderList>>(
  'Order',
  OrderFilterInput,
  {
    ID: common.byId,
    SHIP_DATE: { description: 'By the time of shipping; orders without one come last.' },
  },
) {}

@InputType({ description: 'A new order. Every field may be omitted.' })
export class CreateOrderInput {
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

@InputType({ description: 'Changes of an order: omitted fields stay unchanged. At least one is required.' })
export class UpdateOrderInput extends ConditionalInput {
  @Field(() => ID, { description: 'The order to change.' })
  id!: string;

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

@InputType({ description: 'Which order to cancel.' })
export class CancelOrderInput extends ConditionalInput {
  @Field(() => ID, { description: 'The order to cancel.' })
  id!: string;
}
