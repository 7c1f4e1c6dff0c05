import type { EntityClass } from '@mikro-orm/core';

import { createMaintenanceOrm } from '../../../src/database/database.ts';
import { Category } from '../../../src/domain/categories/category.entity.ts';
import type { Id } from '../../../src/domain/id.ts';
import { InventoryItem } from '../../../src/domain/inventory/inventory-item.entity.ts';
import { Order } from '../../../src/domain/orders/order.entity.ts';
import { Pet, petStatuses } from '../../../src/domain/pets/pet.entity.ts';
import type { OpenedDatabase } from '../../support/opened-database.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';

const metadata = createMaintenanceOrm('postgresql://unused/unused').getMetadata();

/** The rows as they should be read, in no particular order. */
export interface StoredRows {
  readonly categories: readonly Category[];
  readonly pets: readonly Pet[];
  readonly orders: readonly Order[];
  readonly inventory: readonly InventoryItem[];
}

/** Names with capitals, accents, the wildcards of LIKE and what sorts differently by code point and by UTF-16. */
export const names = [
  'Rex',
  'rex',
  'Zoë',
  'ZOË',
  'Ä',
  'z',
  '100%',
  'a_b',
  'a\\b',
  '🐕',
  '\uffee',
  'Привет',
  'Rex II',
  'ΣΑΣΟΣ',
];

/** Fills the store with rows that have many ties and gaps: ids are taken at random, some negative, some beyond 2^53. */
export async function fillAtRandom(sql: OpenedDatabase['sql'], dice: SeededRandom): Promise<StoredRows> {
  const categories = times(25, (n) =>
    rowOf(Category, {
      id: idOf(n, dice),
      name: dice.oneOf(names),
      description: dice.oneOf(['', null]),
    }),
  );
  const pets = times(240, (n) =>
    rowOf(Pet, {
      id: idOf(n, dice),
      name: dice.oneOf(names),
      status: dice.oneOf(petStatuses),
      categoryId: dice.oneOf(categories.slice(0, 8)).id,
    }),
  );
  const inventory = pets.map(({ id, status }) => rowOf(InventoryItem, { petId: id, quantity: dice.below(6), status }));
  const orders = times(240, (n) =>
    rowOf(Order, {
      id: idOf(n, dice),
      petId: dice.chance(0.1) ? null : dice.oneOf(pets.slice(0, 12)).id,
      quantity: dice.chance(0.2) ? null : 1 + dice.below(5),
      shipDate: dice.chance(0.4) ? null : new Date(-62_135_596_800_000 + dice.below(8) * 1e12),
      complete: dice.chance(0.5),
    }),
  );
  const tables = { categories, pets, inventory, orders };
  for (const [table, rows] of Object.entries(tables)) {
    await sql(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [inColumns(rows)]);
  }
  return { categories, pets, orders, inventory };
}

/** A row with these values; what else may be unset is null. */
function rowOf<Row extends object>(entity: EntityClass<Row>, values: Partial<Row>): Row {
  const optional = metadata.get(entity as EntityClass<object>).props.filter(({ nullable }) => nullable === true);
  return { ...Object.fromEntries(optional.map(({ name }) => [name, null])), ...values } as Row;
}

/** As JSON, by the names of the columns. */
function inColumns(rows: readonly object[]): string {
  return JSON.stringify(rows).replaceAll(
    /"([a-z]+)([A-Z])([a-z]+)":/g,
    (_, first: string, capital: string, rest: string) => {
      return `"${first}_${capital.toLowerCase()}${rest}":`;
    },
  );
}

function times<Row>(count: number, make: (n: number) => Row): Row[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

function idOf(n: number, dice: SeededRandom): Id {
  const base = dice.oneOf([-1_000_000n, 1n, 9_007_199_254_740_993n]);
  return String(base + BigInt(n * 3)) as Id;
}
