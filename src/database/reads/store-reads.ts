import type { MetadataStorage } from '@mikro-orm/core';

import { Category } from '../../domain/categories/category.entity.ts';
import { categorySorting, type CategoryReads } from '../../domain/categories/category.reads.ts';
import { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import {
  inventorySorting,
  type InventoryFilter,
  type InventoryReads,
} from '../../domain/inventory/inventory-item.reads.ts';
import { Order } from '../../domain/orders/order.entity.ts';
import { orderSorting, type OrderReads } from '../../domain/orders/order.reads.ts';
import { Pet, petStatuses, type PetStatus } from '../../domain/pets/pet.entity.ts';
import { petSorting, type PetReads } from '../../domain/pets/pet.reads.ts';
import type { StoreReads } from '../../domain/services.ts';
import { tableOf } from '../entity-table.ts';
import { createApiKeyReads } from './api-key-reads.ts';
import { all, compares, contains, equals, oneOf, plannedAnew, type Conditions } from './conditions.ts';
import { createListingReads } from './listing.ts';
import type { StatementRunner } from './statement.ts';

/** The reads of the store's lists. Tables and columns come from the entities. */
export function createReads(metadata: MetadataStorage, run: StatementRunner): StoreReads {
  return {
    apiKeys: createApiKeyReads(metadata, run),
    categories: categoryReads(metadata, run),
    pets: petReads(metadata, run),
    orders: orderReads(metadata, run),
    inventory: inventoryReads(metadata, run),
  };
}

function categoryReads(metadata: MetadataStorage, run: StatementRunner): CategoryReads {
  const category = tableOf(metadata.get(Category));
  return createListingReads(
    {
      sorting: categorySorting,
      from: category.name,
      columns: category.columns('id', 'name', 'description'),
      id: category.column('id'),
      by: { ID: category.by('id'), NAME: category.by('name', 'id') },
      conditions: ({ nameContains }) => contains(category.column('name'), nameContains),
    },
    run,
  );
}

function petReads(metadata: MetadataStorage, run: StatementRunner): PetReads {
  const pet = tableOf(metadata.get(Pet));
  return createListingReads(
    {
      sorting: petSorting,
      from: pet.name,
      columns: pet.columns('id', 'name', 'status', 'categoryId'),
      id: pet.column('id'),
      by: { ID: pet.by('id'), NAME: pet.by('name', 'id') },
      parent: pet.column('categoryId'),
      conditions: ({ statusIn, categoryIdIn, nameContains }) =>
        all(
          oneOf(pet.column('status'), isEveryStatus(statusIn) ? undefined : statusIn, 'text'),
          oneOf(pet.column('categoryId'), categoryIdIn, 'bigint'),
          contains(pet.column('name'), nameContains),
        ),
    },
    run,
  );
}

function orderReads(metadata: MetadataStorage, run: StatementRunner): OrderReads {
  const order = tableOf(metadata.get(Order));
  return createListingReads(
    {
      sorting: orderSorting,
      from: order.name,
      columns: {
        ...order.columns('id', 'petId', 'quantity', 'complete'),
        // As milliseconds: the driver's own parsing of dates loses years before 100 and old offsets.
        shipDate: `(extract(epoch from ${order.column('shipDate')}) * 1000)::float8`,
      },
      id: order.column('id'),
      by: { ID: order.by('id'), SHIP_DATE: order.by('shipDate', 'id') },
      parent: order.column('petId'),
      conditions: ({ petIdIn, complete, shipDateFrom, shipDateTo }) =>
        all(
          oneOf(order.column('petId'), petIdIn, 'bigint'),
          equals(order.column('complete'), complete, 'boolean'),
          compares(order.column('shipDate'), '>=', shipDateFrom?.toISOString(), 'timestamptz'),
          compares(order.column('shipDate'), '<', shipDateTo?.toISOString(), 'timestamptz'),
        ),
      parseRow: (row) =>
        Object.assign(row, { shipDate: row.shipDate === null ? null : new Date(Number(row.shipDate)) }),
    },
    run,
  );
}

function inventoryReads(metadata: MetadataStorage, run: StatementRunner): InventoryReads {
  const item = tableOf(metadata.get(InventoryItem));
  const pet = tableOf(metadata.get(Pet));
  const quantities = ({ quantityAtLeast, quantityAtMost }: InventoryFilter): Conditions =>
    all(
      compares(item.column('quantity'), '>=', quantityAtLeast, 'int'),
      compares(item.column('quantity'), '<=', quantityAtMost, 'int'),
    );
  const status = `(select ${pet.column('status')} from ${pet.name} where ${pet.column('id')} = ${item.column('petId')})`;
  const unfiltered = {
    sorting: inventorySorting,
    from: item.name,
    columns: { ...item.columns('petId', 'quantity'), status },
    id: item.column('petId'),
    by: { PET_ID: item.by('petId'), QUANTITY: item.by('quantity', 'petId') },
    conditions: quantities,
  };
  const byStatus = {
    ...unfiltered,
    from: `${pet.name} join ${item.name} on ${item.column('petId')} = ${pet.column('id')}`,
    columns: { ...unfiltered.columns, status: pet.column('status') },
    // The pet's own id, so that the index of pets by status serves the order.
    by: {
      ...unfiltered.by,
      PET_ID: [{ column: pet.column('id'), property: 'petId', joined: item.column('petId') }],
    },
    conditions: (filter: InventoryFilter) =>
      all(plannedAnew(oneOf(pet.column('status'), filter.statusIn, 'text')), quantities(filter)),
  };
  const reads = createListingReads(unfiltered, run);
  const readsByStatus = createListingReads(byStatus, run);
  // Every pet has its item, so that there is nothing to join for a number.
  const countsByStatus = createListingReads({ ...byStatus, from: pet.name }, run);
  return {
    byIds: (ids) => reads.byIds(ids),
    slice: (filter, keyset) => (hasStatus(filter) ? readsByStatus : reads).slice(filter, keyset),
    count: (filter) => {
      if (!hasStatus(filter)) return reads.count(filter);
      return (quantities(filter)?.length === 0 ? countsByStatus : readsByStatus).count(filter);
    },
  };
}

function hasStatus({ statusIn }: InventoryFilter): boolean {
  return statusIn !== undefined && !isEveryStatus(statusIn);
}

function isEveryStatus(values: readonly PetStatus[] | undefined): boolean {
  return petStatuses.every((status) => values?.includes(status));
}
