import { expect, it } from '@jest/globals';

import { migrate } from '../../src/database/start/migrate.ts';
import { openTestDatabase } from '../support/opened-database.ts';

const { location, sql } = await openTestDatabase();

const record = (name: string) => sql('insert into petstore_migrations (name) values ($1)', [name]);
const forget = (name: string) => sql('delete from petstore_migrations where name = $1', [name]);

it('a start goes on beside the migrations of a newer version, so that an update can be taken back', async () => {
  await record('2027-01-01-vouchers');
  expect(await migrate({ location })).toBeUndefined();
  await forget('2027-01-01-vouchers');
});

it('a database from before 1.0.0 is refused in a sentence that says what to do, and is not changed', async () => {
  const all = () => sql('select name, executed_at from petstore_migrations order by id');
  await forget('2026-11-27-events');
  await record('2026-11-21-store');
  const before = await all();
  await expect(migrate({ location })).rejects.toMatchObject({
    name: 'UnsuitableServer',
    message: expect.stringMatching(/^The database was made before version 1\.0\.0, .+: start with an empty one, .+\.$/),
  });
  expect(await all()).toEqual(before);
});
