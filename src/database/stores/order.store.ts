import type { MetadataStorage } from '@mikro-orm/core';

import { Order } from '../../domain/orders/order.entity.ts';
import {
  orderList,
  type OrderRelation,
  type OrderRelations,
  type OrderRow,
  type OrderStore,
} from '../../domain/orders/order.store.ts';
import type { RowData } from '../../domain/store.ts';
import { equals, unserved } from '../sql/conditions.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { listSource } from '../sql/list-source.ts';
import { namedRelations } from '../sql/selection.ts';
import type { Session } from '../../platform/postgres/index.ts';
import { TableReads } from '../sql/table-reads.ts';
import { TableStore } from '../sql/table-store.ts';
import { TableWrites } from '../sql/table-writes.ts';

export function createOrderStore(metadata: MetadataStorage, maxWalked?: number): (session: Session) => OrderStore {
  const table = new EntityTable(metadata.get(Order));
  const relations = namedRelations<OrderRelation>(metadata, 'order', table);
  const source = listSource(table, orderList, relations, {
    complete: ({ complete = null, petIdIn }, isPerParent) => {
      const isComplete = equals(table.column('complete'), complete, 'boolean');
      // No index covers it for a pet's orders, and there may be very many.
      return isPerParent || petIdIn !== undefined ? unserved(isComplete) : isComplete;
    },
  });
  const reads = new TableReads<OrderRow, typeof orderList, OrderRelation>(source, maxWalked);
  const writes = new TableWrites<OrderRow, RowData<Order>, OrderRelation>(table, relations);
  return (session) => new TableStore<Order, typeof orderList, OrderRelations>(session, reads, writes);
}
