import type { Order } from '../../domain/orders/order.entity.ts';
import { orderRepresentation } from '../../domain/orders/order.version.ts';
import { maxBatchSize } from '../../domain/page.ts';
import type { Handlers } from '../handler.ts';
import type { Json } from '../json.ts';
import type { components } from '../openapi/types.ts';
import { collection, created, deleted, resource } from '../responses.ts';

/** The longest values. */
const maxOrderBytes = 150;

const orderBody: (row: Order) => Json<components['schemas']['Order']> = orderRepresentation;

export const orderRoutes = {
  listOrders: (call, { orders }) =>
    collection(call, (request) => orders.list(request, { maxSize: maxBatchSize }), orderBody, maxOrderBytes),

  createOrder: async (call, { orders }) => {
    const order = await orders.create(call.body);
    return created(call, order.id, orderBody(order));
  },

  getOrder: async ({ path }, { orders }) => resource(orderBody(await orders.get(path.orderId))),

  updateOrder: async ({ path, body, precondition }, { orders }) =>
    resource(orderBody(await orders.update(path.orderId, body, { precondition }))),

  cancelOrder: async ({ path, precondition }, { orders }) => {
    await orders.cancelOrder(path.orderId, precondition);
    return deleted;
  },
} satisfies Partial<Handlers>;
