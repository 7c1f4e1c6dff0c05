import { ReferenceKind } from '@mikro-orm/core';
import { describe, expect, it } from '@jest/globals';

import { migrations } from '../../migrations/index.ts';
import { createMaintenanceOrm } from '../../src/database/database.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded/embedded-postgres.ts';
import { readConfig } from '../../src/settings/config.ts';
import { atEnd } from '../support/at-end.ts';
import { locationOf } from '../support/postgres-client.ts';
import { createTestDatabase } from '../support/test-database.ts';

const environment = await createTestDatabase();
const { databaseUrl, dataDir } = readConfig(environment);
if (databaseUrl === undefined) {
  const engine = await startEmbeddedPostgres(dataDir);
  atEnd(() => engine.close());
}
const orm = createMaintenanceOrm(locationOf(environment));
atEnd(() => orm.close(true));

const sql = (text: string): Promise<Record<string, unknown>[]> => orm.em.getConnection().execute(text);

const keyWith = (column: string, value: string, digit = 'a'): string =>
  `insert into api_keys (name, prefix, sha256, plan, scopes, ${column})
    values ('Key', 'pk', repeat('${digit}', 64), 'free', '{read}', '${value}')`;

/** Tables, columns, constraints, indexes and functions, in the words of PostgreSQL. */
function describeSchema(): Promise<Record<string, unknown>[]> {
  return sql(`
    select 'column' as kind, table_name || '.' || column_name as name,
      concat_ws(' ', data_type, is_nullable, column_default, is_identity, collation_name) as definition
    from information_schema.columns where table_schema = 'public'
    union all
    select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'
    union all
    select 'function', proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace and proname like 'petstore%'
    order by 1, 2`);
}

it('make the table of every entity, with all its columns', async () => {
  const columns = await sql(`select table_name || '.' || column_name as name from information_schema.columns`);
  const there = new Set(columns.map(({ name }) => name));
  const wanted = [...orm.getMetadata().getAll().values()].flatMap(({ tableName, props }) =>
    props.flatMap(({ persist, kind, fieldNames }) =>
      persist === false || kind === ReferenceKind.MANY_TO_MANY ? [] : fieldNames.map((name) => `${tableName}.${name}`),
    ),
  );
  expect(
    wanted.filter((name) => !there.has(name)).map((name) => `No migration of migrations/index.ts makes ${name}.`),
  ).toEqual([]);
});

it('make an index for every reference, without which the deletion of a row that others name reads their whole table', async () => {
  const lacking = await sql(`select conrelid::regclass || '.' || attname as column from pg_constraint
    join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace
      and not exists (select from pg_index where indrelid = conrelid and indkey[0] = conkey[1])`);
  expect(lacking.map(({ column }) => `No migration makes an index that begins with ${String(column)}.`)).toEqual([]);
});

it('go up, all the way down without leaving anything, and up again to the same', async () => {
  const before = await describeSchema();
  expect(before.filter(({ kind }) => kind === 'index').length).toBeGreaterThan(15);
  await orm.migrator.down({ to: 0 });
  const left = (await describeSchema()).map(
    ({ kind, name }) => `On the way down the ${String(kind)} ${String(name)} is left.`,
  );
  const problems = left.filter((each) => !each.includes(' petstore_migrations'));
  for (const { name } of migrations) {
    await orm.migrator.up({ migrations: [name] }).catch((error: unknown) => {
      problems.push(`migrations/${name}.ts doesn't go up again: ${(error as Error).message}`);
    });
  }
  expect(problems).toEqual([]);
  expect(await describeSchema()).toEqual(before);
});

it('a new database has an id of its own', async () => {
  expect(await sql('select id from installation')).toEqual([{ id: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
});

describe('the tables refuse what no service would write', () => {
  it.each([
    ['a blank name', `insert into categories (name) values ('')`],
    ['a name of 256 characters', `insert into categories (name) values (repeat('x', 256))`],
    ['a control character in a name', `insert into categories (name) values (E'a\\u0085b')`],
    ['a line feed in a name', `insert into categories (name) values (E'a\\nb')`],
    ['a long description', `insert into categories (name, description) values ('x', repeat('x', 2001))`],
    ['a bell in a description', `insert into categories (name, description) values ('x', E'\\u0007')`],
    ['an unknown status', `insert into pets (name, category_id, status) values ('x', 1, 'lost')`],
    ['a pet without its category', `insert into pets (name, category_id) values ('x', 4711)`],
    ['an order of an unknown pet', `insert into orders (pet_id) values (4711)`],
    ['an order of nothing', `insert into orders (quantity) values (0)`],
    ['a date before the year 1', `insert into orders (ship_date) values ('0001-01-01 BC')`],
    ['a date after the year 9999', `insert into orders (ship_date) values ('10000-01-01T00:00:00Z')`],
    ['an expiry at infinity', keyWith('expires_at', 'infinity')],
    ['a ban until infinity', keyWith('banned_until', 'infinity')],
    ['a revocation since always', keyWith('revoked_at', '-infinity')],
    ['a key that was created before the year 1', keyWith('created_at', '0001-01-01 BC')],
    ['an expiry after the year 9999', keyWith('expires_at', '10000-01-01T00:00:00Z')],
    ['stock of nothing', `insert into inventory (pet_id) values (4711)`],
  ])('%s', async (_, statement) => {
    await expect(sql(statement)).rejects.toThrow(/violates (check|foreign key) constraint/);
  });

  it('a pet with a wrong name or status, stock below zero, a category or a pet that is in use', async () => {
    await sql(`insert into categories (id, name) values (1, 'Dogs')`);
    for (const name of [
      `''`,
      `repeat('x', 256)`,
      `E'a\\u0085b'`,
      `E'a\\u007fb'`,
      `E'a\\u001fb'`,
      `E'a\\nb'`,
      `E'Rex\\n'`,
    ])
      await expect(sql(`insert into pets (name, category_id) values (${name}, 1)`)).rejects.toThrow(/pets_check/);
    await expect(sql(`insert into pets (name, status, category_id) values ('Rex', 'lost', 1)`)).rejects.toThrow(
      /pets_check/,
    );
    for (const [index, status] of ['available', 'pending', 'sold'].entries())
      await sql(
        `insert into pets (name, status, category_id) values (repeat('𝄞', ${[1, 2, 255][index]}), '${status}', 1)`,
      );
    await sql('delete from pets');
    await sql(`insert into pets (id, name, category_id) values (1, 'Rex', 1)`);
    await sql(`insert into orders (pet_id) values (1)`);
    await expect(sql(`insert into inventory (pet_id, quantity) values (1, -1)`)).rejects.toThrow(/check constraint/);
    await expect(sql('delete from categories')).rejects.toThrow(/foreign key constraint/);
    await expect(sql('delete from pets')).rejects.toThrow(/foreign key constraint/);
  });
});
