import { Field, ID, Int } from 'type-graphql';

import type { Order } from '../../domain/orders/order.entity.ts';
import { DateTimeScalar } from '../date-time.scalar.ts';
import { common, nounInputs, nounList, NounType } from '../noun/noun.type.ts';

@NounType('order', 'An order of the store.')
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

export const orderList = nounList('order', () => OrderType, {
  filter: {
    petIdIn: {
      type: () => [ID],
      description: 'Is for one of these pets, at most 1,000. An empty list matches nothing.',
    },
    complete: { type: () => Boolean, description: 'Whether it has been fulfilled.' },
    shipDateFrom: { type: () => DateTimeScalar, description: 'Ships at this time or later.' },
    shipDateTo: { type: () => DateTimeScalar, description: 'Ships before this time.' },
  },
  sorting: {
    ID: common.byId,
    SHIP_DATE: { description: 'By the time of shipping; orders without one come last.' },
  },
});

export const orderInputs = nounInputs(
  'order',
  {
    petId: {
      type: () => ID,
      created: 'The pet that is ordered.',
      changed: 'The pet that is ordered; null removes it.',
    },
    quantity: {
      type: () => Int,
      created: 'How many units are ordered, 1 or more.',
      changed: 'How many units are ordered, 1 or more; null removes it.',
    },
    shipDate: {
      type: () => DateTimeScalar,
      created: 'When it ships, in the years 0001 to 9999.',
      changed: 'When it ships; null removes it.',
    },
    complete: {
      type: () => Boolean,
      created: 'Whether it has been fulfilled; false by default.',
      changed: 'Whether it has been fulfilled; not null. Once true it stays true.',
    },
  },
  ' Every field may be omitted.',
);
