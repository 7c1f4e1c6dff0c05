import { nounResolvers, relationResolvers } from '../noun/noun.resolver.ts';
import { PetType } from '../pets/pet.type.ts';
import { orderInputs, orderList, OrderType } from './order.type.ts';

const order = { noun: 'order', type: () => OrderType } as const;

export const orderResolvers = [
  ...relationResolvers(order, { pet: { type: () => PetType, description: 'The pet that is ordered.' } }),
  ...nounResolvers({
    ...order,
    ...orderList,
    ...orderInputs,
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
];
