import type { EntityMetadata, MetadataStorage } from '@mikro-orm/core';

import { Category } from '../domain/categories/category.entity.ts';
import type { Id } from '../domain/id.ts';
import type { Inserts } from '../domain/inserts.ts';
import { InventoryItem } from '../domain/inventory/inventory-item.entity.ts';
import { Order } from '../domain/orders/order.entity.ts';
import { Pet } from '../domain/pets/pet.entity.ts';
import { tableOf } from './entity-table.ts';
import type { PreparedRunner } from './reads/statement.ts';

/** The statements that add a row. Tables and columns come from the entities. */
export function createInserts(metadata: MetadataStorage, run: PreparedRunner): Inserts {
  const category = insertion(metadata.get(Category), { name: 'text', description: 'text' });
  const order = insertion(metadata.get(Order), {
    petId: 'bigint',
    quantity: 'int',
    shipDate: 'timestamptz',
    complete: 'boolean',
  });
  const pet = insertion(metadata.get(Pet), { name: 'text', categoryId: 'bigint', status: 'text' });
  const item = tableOf(metadata.get(InventoryItem));
  const petWithItem = `with pet as (${pet}) insert into ${item.name} (${item.field('petId')})
    select id from pet returning ${item.field('petId')} as id`;
  const insert = async (name: string, text: string, values: readonly unknown[]): Promise<Id> => {
    const [row] = await run<{ id: Id }>(`petstore_insert_${name}`, text, values);
    if (row === undefined) throw new Error(`Nothing was inserted by: ${text}`);
    return row.id;
  };
  return {
    category: ({ name, description }) => insert('category', category, [name, description]),
    order: ({ petId, quantity, shipDate, complete }) =>
      insert('order', order, [petId, quantity, shipDate?.toISOString() ?? null, complete]),
    pet: ({ name, categoryId, status }) => insert('pet', petWithItem, [name, categoryId, status]),
  };
}

/** Takes the values of the columns, in their order. */
function insertion<Row extends object>(
  metadata: EntityMetadata<Row>,
  types: { readonly [Property in keyof Row & string]?: string },
): string {
  const { name, field } = tableOf(metadata);
  const columns = Object.keys(types).map((property) => field(property as keyof Row & string));
  const values = Object.values(types).map((type, index) => `$${index + 1}::${String(type)}`);
  return `insert into ${name} (${columns.join(', ')}) values (${values.join(', ')}) returning id`;
}
