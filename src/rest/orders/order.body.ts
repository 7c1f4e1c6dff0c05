import type { Order } from '../../domain/orders/order.entity.ts';
import { orderRepresentation } from '../../domain/orders/order.version.ts';
import type { Json } from '../json.ts';
import type { components } from '../openapi/types.ts';

/** The longest values. */
export const maxOrderBytes = 150;

export const orderBody: (row: Order) => Json<components['schemas']['Order']> = orderRepresentation;
