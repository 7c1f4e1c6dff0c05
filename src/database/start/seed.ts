import type { MetadataStorage } from '@mikro-orm/core';

import { type DatabaseLocation, databaseAt } from '../../settings/database-url.ts';
import { openMaintenance, type PgConnection } from '../../platform/postgres/index.ts';
import { createMaintenanceOrm } from '../database.ts';
import { bulkPetInsertion } from '../stores/pet.store.ts';

export interface SeedOptions {
  readonly location: DatabaseLocation;
  readonly pets: number;
  /** Inserted before the pets, which are spread evenly over them. */
  readonly categories: number;
  readonly orders: number;
  /** Called before every step with the share of those that are done, from 0 to 1, and its name. */
  readonly onProgress: (share: number, next: string) => void;
}

const batchSize = 100_000;

const tables = 'categories, pets, orders, inventory';

/**
 * Inserts many generated rows, all or nothing, in one transaction that locks the tables. In the log of events it is one
 * `store.resync`.
 *
 * Indexes and foreign keys are dropped and restored at the end, as `pg_dump` does: building an index is several times
 * faster than updating it row by row.
 */
export async function seedStore(options: SeedOptions): Promise<void> {
  const { location, onProgress } = options;
  const orm = createMaintenanceOrm(location);
  const client = await openMaintenance(databaseAt(location));
  try {
    await client.query('begin');
    await client.query(`lock table ${tables}`);
    await client.query(`set local maintenance_work_mem = '512MB'; set local petstore.events = 'off'`);
    const secondary = await dropSecondary(client);
    const steps: readonly Step[] = [
      ...(await fillingSteps(client, orm.getMetadata(), options)),
      ...secondary,
      { what: 'commit', sql: 'commit' },
      { what: 'statistics', sql: `vacuum analyze ${tables}` },
    ];
    for (const [index, { what, sql, values }] of steps.entries()) {
      onProgress(index / steps.length, what);
      await client.query(sql, values);
    }
    onProgress(1, 'done');
  } finally {
    await client.close();
    await orm.close(true);
  }
}

interface Step {
  readonly what: string;
  readonly sql: string;
  readonly values?: unknown[];
}

async function dropSecondary(client: PgConnection): Promise<Step[]> {
  const { rows } = await client.query<Step & { readonly drop: string }>(
    `
    select 'index ' || relname as what, pg_get_indexdef(indexrelid) as sql, 'drop index ' || indexrelid::regclass as drop
    from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = any('{${tables}}'::regclass[]) and not indisunique
    union all
    select 'foreign key ' || conname,
      'alter table ' || conrelid::regclass || ' add constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid),
      'alter table ' || conrelid::regclass || ' drop constraint ' || quote_ident(conname)
    from pg_constraint where conrelid = any('{${tables}}'::regclass[]) and contype = 'f'
    order by 1 desc`,
  );
  for (const { drop } of rows) await client.query(drop);
  return rows;
}

const petNames = ['Rex', 'Bella', 'Luna', 'Oskar', 'Nala', 'Balu', 'Mia', 'Simba', 'Cleo', 'Felix', 'Kiwi', 'Coco'];

/**
 * Generated pets: `$1` is the last id of a pet, `$2` that of a category, `$3` to `$4` their numbers, `$5` the names,
 * `$6` the categories.
 */
const generatedPet = {
  id: '$1::bigint + n',
  name: `($5::text[])[1 + n % cardinality($5)] || ' ' || n`,
  status: `(array['available', 'available', 'available', 'pending', 'sold'])[1 + (hashint8(n) & 2147483647) % 5]`,
  categoryId: '$2::bigint + 1 + (hashint8extended(n, 1) & 9223372036854775807) % $6::bigint',
  inventory: { quantity: '(hashint8extended(pets.id, 2) & 9223372036854775807) % 100' },
};

async function fillingSteps(
  client: PgConnection,
  metadata: MetadataStorage,
  { pets, categories, orders }: SeedOptions,
): Promise<Step[]> {
  const { rows } = await client.query<{ category: string; pet: string }>(
    'select (select coalesce(max(id), 0) from categories) as category, (select coalesce(max(id), 0) from pets) as pet',
  );
  // Texts, as the driver reads them: numbers would round ids beyond 2^53.
  const [lastCategory, lastPet] = [rows[0]?.category, rows[0]?.pet];
  const petInsertion = bulkPetInsertion(metadata, generatedPet, 'from generate_series($3::bigint, $4::bigint) as n');
  return [
    {
      what: 'categories',
      sql: `insert into categories (id, name, description)
        select $1::bigint + n, 'Category ' || n, 'Made up, number ' || n || ' of its kind.' from generate_series(1, $2::int) as n`,
      values: [lastCategory, categories],
    },
    ...batches(pets).map(([from, to]) => ({
      what: `pets ${from} to ${to}`,
      sql: petInsertion,
      values: [lastPet, lastCategory, from, to, petNames, categories],
    })),
    ...batches(orders).map(([from, to]) => ({
      what: `orders ${from} to ${to}`,
      sql: `insert into orders (pet_id, quantity, ship_date, complete)
        select $1::bigint + 1 + (hashint8extended(n, 3) & 9223372036854775807) % $4::bigint, 1 + (hashint8(n) & 2147483647) % 5,
          timestamptz '2026-01-01 00:00:00Z' + n * interval '1 minute', n % 3 = 0
        from generate_series($2::bigint, $3::bigint) as n`,
      values: [lastPet, from, to, pets],
    })),
    ...['categories', 'pets'].map((table) => ({
      what: `ids of ${table}`,
      sql: `select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
    })),
  ];
}

function batches(count: number): [from: number, to: number][] {
  return Array.from({ length: Math.ceil(count / batchSize) }, (_, index) => [
    index * batchSize + 1,
    Math.min(count, (index + 1) * batchSize),
  ]);
}
