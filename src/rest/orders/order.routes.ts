import { inBatches, maxBatchSize } from '../../domain/page.ts';
import { collection, created, deleted, page, resource } from '../answers.ts';
import { expectationOf } from '../entity-tag.ts';
import type { Handlers } from '../handler.ts';
import { orderBody } from './order.body.ts';

export const orderRoutes = {
  listOrders: async (call, { orders }) => {
    const { limit, cursor } = call.query;
    if (limit === undefined) {
      return collection(
        call,
        inBatches((request) => orders.list(request, maxBatchSize), cursor),
        orderBody,
      );
    }
    return page(call, await orders.list({ first: limit, after: cursor }, maxBatchSize), orderBody);
  },

  createOrder: async (call, { orders }) => {
    const order = await orders.create(call.body);
    return created(call, order.id, orderBody(order));
  },

  getOrder: async ({ path }, { orders }) => resource(orderBody(await orders.get(path.orderId))),

  updateOrder: async ({ path, body, ifMatch }, { orders }) =>
    resource(orderBody(await orders.update(path.orderId, body, expectationOf(ifMatch, orderBody)))),

  cancelOrder: async ({ path, ifMatch }, { orders }) => {
    await orders.cancelOrder(path.orderId, expectationOf(ifMatch, orderBody));
    return deleted;
  },
} satisfies Partial<Handlers>;
