import type { MetadataStorage } from '@mikro-orm/core';

import { Order } from '../../domain/orders/order.entity.ts';
import {
  orderSorting,
  type OrderFilter,
  type OrderRelation,
  type OrderRow,
  type OrderSortField,
  type OrderStore,
} from '../../domain/orders/order.store.ts';
import { Pet } from '../../domain/pets/pet.entity.ts';
import type { Id } from '../../domain/id.ts';
import type { Keyset, Slice } from '../../domain/page.ts';
import type { Include, RowData } from '../../domain/store.ts';
import { all, compares, equals, filtered, oneOf } from '../sql/conditions.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { namedBy } from '../sql/selection.ts';
import type { Session } from '../../platform/postgres/index.ts';
import { TableReads } from '../sql/table-reads.ts';
import { TableStore } from '../sql/table-store.ts';
import { TableWrites } from '../sql/table-writes.ts';

export function createOrderStore(metadata: MetadataStorage): (session: Session) => OrderStore {
  const table = new EntityTable(metadata.get(Order));
  const relations = { pet: namedBy(table, 'petId', 'pet', new EntityTable(metadata.get(Pet))) };
  const reads = new TableReads<OrderRow, OrderFilter, OrderSortField, OrderRelation>({
    sorting: orderSorting,
    table,
    relations,
    from: table.name,
    id: table.column('id'),
    by: { ID: table.by('id'), SHIP_DATE: table.by('shipDate', 'id') },
    parent: table.column('petId'),
    conditions: ({ petIdIn, complete, shipDateFrom, shipDateTo }, isPerParent) => {
      const isComplete = equals(table.column('complete'), complete, 'boolean');
      return all(
        oneOf(table.column('petId'), petIdIn, 'bigint'),
        // No index covers it for a pet's orders, and there may be very many.
        isPerParent || petIdIn !== undefined ? filtered(isComplete) : isComplete,
        compares(table.column('shipDate'), '>=', shipDateFrom?.toISOString(), 'timestamptz'),
        compares(table.column('shipDate'), '<', shipDateTo?.toISOString(), 'timestamptz'),
      );
    },
  });
  const writes = new TableWrites<OrderRow, RowData<Order>, OrderRelation>(table, relations);
  return (session) => new SessionOrders(session, reads, writes);
}

class SessionOrders
  extends TableStore<OrderRow, OrderRow, RowData<Order>, OrderFilter, OrderSortField, OrderRelation>
  implements OrderStore
{
  pagePerPet(
    petIds: readonly Id[],
    filter: OrderFilter,
    keyset: Keyset<OrderSortField>,
    include?: Include<OrderRelation>,
  ): Promise<Slice<OrderRow>[]> {
    return this.reads.pagePerParent(this.session, petIds, filter, keyset, include);
  }

  countPerPet(petIds: readonly Id[], filter: OrderFilter): Promise<number[]> {
    return this.reads.countPerParent(this.session, petIds, filter);
  }
}
