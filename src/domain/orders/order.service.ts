import { DomainError } from '../errors.ts';
import { NounService } from '../noun.service.ts';
import { nouns } from '../nouns.ts';
import type { Reference } from '../reference.ts';
import { anyRule, instantRule, orderQuantityRule } from '../rules.ts';
import type { Include, UpdateOptions } from '../store.ts';
import type { Stores } from '../stores.ts';
import type { Precondition } from '../version.ts';
import { mayReferTo, optional, withDefault, type ChangesOf, type NewOf } from '../written-fields.ts';
import type { OrderRelation, OrderRow, OrderStore } from './order.store.ts';

const pet: Reference = { noun: 'pet', target: ({ pets }) => pets };
const fields = {
  petId: mayReferTo(pet),
  quantity: optional(orderQuantityRule),
  shipDate: optional(instantRule),
  complete: withDefault(anyRule<boolean>(), false),
};

const orderKind = {
  ...nouns.order,
  noun: 'order',
  fields,
};

export class OrderService extends NounService<OrderRow, typeof orderKind, OrderRelation> {
  override readonly kind = orderKind;

  protected override storeIn({ orders }: Stores): OrderStore {
    return orders;
  }

  create(input: NewOf<typeof fields>, include?: Include<OrderRelation>): Promise<OrderRow> {
    return this.creation(input, (row) => this.stores.orders.insert(row, include));
  }

  /** Throws CONFLICT when a complete order would become incomplete. */
  update(id: string, changes: ChangesOf<typeof fields>, options?: UpdateOptions<OrderRelation>): Promise<OrderRow> {
    const staysComplete = (order: OrderRow): void => {
      if (!order.complete) return;
      throw new DomainError('CONFLICT', `Order ${id} is complete, and a complete order stays complete.`);
    };
    return this.change(id, changes, { ...options, check: changes.complete === false ? staysComplete : undefined });
  }

  /** Deletes the order. Throws CONFLICT when it is complete: it has shipped. */
  cancelOrder(id: string, precondition?: Precondition): Promise<void> {
    const check = (order: OrderRow): void => {
      if (!order.complete) return;
      throw new DomainError('CONFLICT', `Order ${id} is complete: it has shipped and can't be cancelled.`);
    };
    return this.deletion(id, { precondition, check }, ({ orders }, orderId) => orders.delete(orderId));
  }
}
