import { expect, it } from '@jest/globals';

import { readConfig } from '../../../src/settings/config.ts';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/embedded-postgres.ts';
import { seedStore } from '../../../src/database/start/seed.ts';
import { connect } from '../../support/postgres-client.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const indexesAndConstraints = `
  select indexdef as definition from pg_indexes where schemaname = current_schema
  union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint where conrelid <> 0
  order by 1`;

it('a made-up store is as large as it was asked for, beside what was there, with all indexes and constraints', async () => {
  const { databaseUrl, dataDir } = readConfig(await createTestDatabase());
  const embedded = databaseUrl === undefined ? await startEmbeddedPostgres(dataDir) : undefined;
  const location = databaseUrl ?? embedded!.connection;
  const client = await connect(location);
  const before = await client.query(indexesAndConstraints);
  await client.query(`insert into categories (id, name) values (9007199254740993, 'beyond 2^53')`);

  for (const pets of [30, 20]) {
    const shares: number[] = [];
    const onProgress = (share: number): void => void shares.push(share);
    await seedStore({ location, pets, categories: 4, orders: 10, onProgress });
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect([shares.at(0), shares.at(-1)]).toEqual([0, 1]);
  }

  expect((await client.query(indexesAndConstraints)).rows).toEqual(before.rows);
  const { rows } = await client.query(`select
    (select count(*)::int from pets join categories on categories.id = category_id join inventory on pet_id = pets.id) as pets,
    (select count(*)::int from categories) as categories, (select count(*)::int from orders join pets on pets.id = pet_id) as orders`);
  expect(rows).toEqual([{ pets: 50, categories: 9, orders: 20 }]);
  await client.query(`insert into pets (name, category_id) values ('The next one', 9007199254740993)`);
  await client.end();
  await embedded?.close();
});
