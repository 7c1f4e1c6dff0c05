import { nouns } from '../../domain/nouns.ts';
import { orderRepresentation, type Order } from '../../domain/orders/order.entity.ts';
import { maxBatchSize } from '../../domain/page.ts';
import type { Handlers } from '../handler.ts';
import type { Json } from '../json.ts';
import type { Schemas } from '../openapi/types.ts';
import { collection, created, deleted, resource } from '../responses.ts';

const { maxBytes } = nouns.order;
const orderBody: (order: Order) => Json<Schemas['Order']> = orderRepresentation;

export const orderRoutes = {
  listOrders(call, { orders }) {
    return collection(call, (request) => orders.list(request, { maxSize: maxBatchSize }), orderBody, maxBytes);
  },

  async createOrder(call, { orders }) {
    return created(call, 'order', await orders.create(call.body), orderBody);
  },

  async getOrder({ path }, { orders }) {
    return resource(orderBody(await orders.get(path.orderId)));
  },

  async updateOrder({ path, body, precondition }, { orders }) {
    return resource(orderBody(await orders.update(path.orderId, body, { precondition })));
  },

  async cancelOrder({ path, precondition }, { orders }) {
    await orders.cancelOrder(path.orderId, precondition);
    return deleted;
  },
} satisfies Partial<Handlers>;
