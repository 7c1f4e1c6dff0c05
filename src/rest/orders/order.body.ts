import type { Order } from '../../domain/orders/order.entity.ts';
import { jsonId, type Json } from '../json.ts';
import type { components } from '../openapi/types.ts';

/** The longest values. */
export const maxOrderBytes = 150;

export function orderBody({ id, petId, quantity, shipDate, complete }: Order): Json<components['schemas']['Order']> {
  return {
    id: jsonId(id),
    ...(petId === null || petId === undefined ? {} : { petId: jsonId(petId) }),
    ...(quantity === null || quantity === undefined ? {} : { quantity }),
    ...(shipDate === null || shipDate === undefined ? {} : { shipDate: shipDate.toISOString() }),
    complete,
  };
}
