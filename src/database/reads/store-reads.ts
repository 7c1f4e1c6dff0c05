import type { EntityMetadata, EntityProperty, MetadataStorage } from '@mikro-orm/core';

import { Category } from '../../domain/categories/category.entity.ts';
import { categorySorting } from '../../domain/categories/category.reads.ts';
import { InventoryItem } from '../../domain/inventory/inventory-item.entity.ts';
import { inventorySorting } from '../../domain/inventory/inventory-item.reads.ts';
import { Order } from '../../domain/orders/order.entity.ts';
import { orderSorting } from '../../domain/orders/order.reads.ts';
import { Pet, petStatuses, type PetStatus } from '../../domain/pets/pet.entity.ts';
import { petSorting } from '../../domain/pets/pet.reads.ts';
import type { StoreReads } from '../../domain/services.ts';
import { createListingReads, type Bind, type SortColumn } from './listing.ts';
import type { StatementRunner } from './statement-runner.ts';

/** The reads of the store's lists. Tables and columns come from the entities. */
export function createReads(metadata: MetadataStorage, run: StatementRunner): StoreReads {
  const category = tableOf(metadata.get(Category));
  const pet = tableOf(metadata.get(Pet));
  const order = tableOf(metadata.get(Order));
  const item = tableOf(metadata.get(InventoryItem));
  return {
    categories: createListingReads(
      {
        sorting: categorySorting,
        from: category.name,
        columns: category.columns('id', 'name', 'description'),
        id: category.sortColumn('id'),
        sortColumns: { NAME: category.sortColumn('name') },
        conditions: ({ nameContains }, bind) => contains(category.column('name'), nameContains, bind),
      },
      run,
    ),
    pets: createListingReads(
      {
        sorting: petSorting,
        from: pet.name,
        columns: pet.columns('id', 'name', 'status', 'categoryId'),
        id: pet.sortColumn('id'),
        sortColumns: { NAME: pet.sortColumn('name') },
        parent: pet.column('categoryId'),
        conditions: (filter, bind) =>
          all(
            statusIn(pet.column('status'), filter.statusIn, bind),
            oneOf(pet.column('categoryId'), filter.categoryIdIn, 'bigint', bind),
            contains(pet.column('name'), filter.nameContains, bind),
          ),
      },
      run,
    ),
    orders: createListingReads(
      {
        sorting: orderSorting,
        from: order.name,
        columns: {
          ...order.columns('id', 'petId', 'quantity', 'complete'),
          // As milliseconds: the driver's own parsing of dates loses years before 100 and old offsets.
          shipDate: `(extract(epoch from ${order.column('shipDate')}) * 1000)::float8`,
        },
        id: order.sortColumn('id'),
        sortColumns: { SHIP_DATE: order.sortColumn('shipDate') },
        parent: order.column('petId'),
        conditions: (filter, bind) =>
          all(
            oneOf(order.column('petId'), filter.petIdIn, 'bigint', bind),
            compare(order.column('complete'), '=', filter.complete, 'boolean', bind),
            compare(order.column('shipDate'), '>=', filter.shipDateFrom?.toISOString(), 'timestamptz', bind),
            compare(order.column('shipDate'), '<', filter.shipDateTo?.toISOString(), 'timestamptz', bind),
          ),
        parseRow: (row) =>
          Object.assign(row, { shipDate: row.shipDate === null ? null : new Date(Number(row.shipDate)) }),
      },
      run,
    ),
    inventory: createListingReads(
      {
        sorting: inventorySorting,
        from: `${item.name} join ${pet.name} on ${pet.column('id')} = ${item.column('petId')}`,
        columns: { ...item.columns('petId', 'quantity'), status: pet.column('status') },
        id: item.sortColumn('petId'),
        sortColumns: { QUANTITY: item.sortColumn('quantity') },
        conditions: (filter, bind) =>
          all(
            statusIn(pet.column('status'), filter.statusIn, bind),
            compare(item.column('quantity'), '>=', filter.quantityAtLeast, 'int', bind),
            compare(item.column('quantity'), '<=', filter.quantityAtMost, 'int', bind),
          ),
      },
      run,
    ),
  };
}

interface Table<Row> {
  readonly name: string;
  column(property: keyof Row & string): string;
  sortColumn(property: keyof Row & string): SortColumn;
  columns<Property extends keyof Row & string>(...properties: Property[]): Record<Property, string>;
}

function tableOf<Row extends object>(metadata: EntityMetadata<Row>): Table<Row> {
  const properties = metadata.properties as unknown as Record<string, EntityProperty>;
  const column = (property: string): string => `${metadata.tableName}.${properties[property]?.fieldNames[0]}`;
  return {
    name: metadata.tableName,
    column,
    sortColumn: (property) => ({ column: column(property), property }),
    columns: <Property extends keyof Row & string>(...names: Property[]) =>
      Object.fromEntries(names.map((name) => [name, column(name)])) as Record<Property, string>,
  };
}

/** The conditions that are there; undefined when one of them can't be fulfilled. */
type Conditions = readonly string[] | undefined;

function all(...parts: Conditions[]): Conditions {
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

function oneOf(column: string, values: readonly string[] | undefined, type: string, bind: Bind): Conditions {
  if (values === undefined) return [];
  if (values.length === 0) return undefined;
  return values.length === 1
    ? [`${column} = ${bind(values[0], type)}`]
    : [`${column} = any(${bind(values, `${type}[]`)})`];
}

function statusIn(column: string, values: readonly PetStatus[] | undefined, bind: Bind): Conditions {
  const distinct = values === undefined ? undefined : [...new Set(values)];
  return distinct?.length === petStatuses.length ? [] : oneOf(column, distinct, 'text', bind);
}

function compare(column: string, operator: string, value: unknown, type: string, bind: Bind): Conditions {
  return value === undefined ? [] : [`${column} ${operator} ${bind(value, type)}`];
}

/** Served by the trigram index on the folded name. */
function contains(column: string, text: string | undefined, bind: Bind): Conditions {
  if (text === undefined || text === '') return [];
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return [`petstore_fold(${column}) like petstore_fold(${bind(pattern, 'text')})`];
}
