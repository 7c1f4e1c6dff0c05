import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import pg from 'pg';

import { withClient } from '../support/postgres-client.ts';
import { newPetPrefix, smallestStore, type StoreSize } from './workloads.ts';

const fresh = { pets: 100_000, categories: 50, orders: 20_000 } as const;

/**
 * Fills an empty database with so many pets. One that is filled already is used as it is, because filling a large one
 * takes minutes; what an earlier run has added to it is taken out. `root` is the folder of the build whose tables it
 * has.
 */
export async function fillStore(
  databaseUrl: string,
  pets: number | undefined,
  root: string,
  others: Readonly<Record<'categories' | 'orders', number>> = fresh,
): Promise<StoreSize> {
  const found = await measureStore(databaseUrl);
  if (found === undefined) return fill(databaseUrl, { ...others, pets: pets ?? fresh.pets }, root);
  if (pets !== undefined && pets !== found.pets) {
    throw new Error(`The database has ${found.pets} pets, not ${pets}: leave --pets out, or give an empty database.`);
  }
  return found;
}

/** The database beside the given one, for another build; created where it doesn't exist. */
export function databaseBeside(databaseUrl: string): Promise<string> {
  return databaseNamed(databaseUrl, `${new URL(databaseUrl).pathname.slice(1)}_against`);
}

/** The database of this name on the server; created where it doesn't exist. */
export async function databaseNamed(databaseUrl: string, name: string): Promise<string> {
  const url = new URL(databaseUrl);
  await withClient(databaseUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`);
  });
  url.pathname = name;
  return url.href;
}

function fill(
  databaseUrl: string,
  rows: Readonly<Record<'pets' | 'categories' | 'orders', number>>,
  root: string,
): StoreSize {
  const seed = join(root, 'dist/src/cli/seed.js');
  const counts = Object.entries(rows).flatMap(([name, count]) => [`--${name}`, String(count)]);
  const env = { ...process.env, NODE_ENV: 'production', DATABASE_URL: databaseUrl };
  execFileSync(process.execPath, [seed, ...counts], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return rows;
}

/** Undefined for a database without pets. */
function measureStore(databaseUrl: string): Promise<StoreSize | undefined> {
  return withClient(databaseUrl, async (client) => {
    const tables = await client.query(`select from pg_tables where schemaname = current_schema and tablename = 'pets'`);
    if (tables.rowCount === 0) return undefined;
    await client.query(`delete from pets where name like '${newPetPrefix}%'`);
    const [pets, categories] = [await countIds(client, 'pets'), await countIds(client, 'categories')];
    if (pets === 0) return undefined;
    if (pets < smallestStore.pets || categories < smallestStore.categories) {
      const [found, needed] = [{ pets, categories }, smallestStore].map(
        (size) => `${size.pets} pets and ${size.categories} categories`,
      );
      throw new Error(`The database has ${found}: give one with at least ${needed}.`);
    }
    return { pets, categories };
  });
}

async function countIds(client: pg.Client, table: string): Promise<number> {
  const { rows } = await client.query<{ count: string; last: string }>(
    `select count(*), coalesce(max(id), 0) as last from ${table}`,
  );
  const { count, last } = rows[0]!;
  if (count !== last) throw new Error(`The ids of ${table} have gaps, which those of \`npm run seed\` don't have.`);
  return Number(count);
}
