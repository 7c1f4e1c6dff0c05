import { jsonId } from '../json-id.ts';
import { versionOf } from '../version.ts';
import type { Order } from './order.entity.ts';

/** The fields that clients see, in REST's form: the version changes with every one of them. */
export function orderRepresentation({ id, petId, quantity, shipDate, complete }: Order) {
  return {
    id: jsonId(id),
    ...(petId === null || petId === undefined ? {} : { petId: jsonId(petId) }),
    ...(quantity === null || quantity === undefined ? {} : { quantity }),
    ...(shipDate === null || shipDate === undefined ? {} : { shipDate: shipDate.toISOString() }),
    complete,
  };
}

export function orderVersion(order: Order): string {
  return versionOf(JSON.stringify(orderRepresentation(order)));
}
