import { expect, it } from '@jest/globals';

import { behind, change, lockNamedRows } from '../../src/domain/named-rows.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { openTestDatabase } from '../support/opened-database.ts';
import { connect } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { until } from '../support/until.ts';

/*
 * On a server: the embedded database has one session, so nothing changes between a read and a lock.
 */
const cluster = await startCluster();
const { stores } = await openTestDatabase({ url: cluster.url });
const other = await connect(cluster.url);
await cluster.sql(
  `insert into categories (name) values ('Dogs');
   insert into pets (name, category_id) values ('1', 1), ('2', 1);
   insert into inventory (pet_id, quantity) values (1, 1), (2, 1);
   insert into orders (pet_id, complete) values (1, false)`,
);

const stockOfOrder = [change('order', '1'), change('inventory', behind('order', '1', 'petId'))];
const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'petstore-gateway'`;

/** The pets whose stock another transaction could lock now. */
async function unlocked(): Promise<unknown[]> {
  const { rows } = await other.query<{ id: string }>('select pet_id as id from inventory for update skip locked');
  return rows.map(({ id }) => id);
}

/** Meanwhile another transaction, which has the order, makes it one of this pet. */
async function whileMoved<Result>(petId: number, work: () => Promise<Result>): Promise<Result> {
  await other.query(`begin; update orders set pet_id = ${petId} where id = 1`);
  const result = work();
  result.catch(() => undefined);
  await until(async () => (await cluster.sql(waits)).length > 0);
  await other.query('commit');
  return result;
}

it('a row that has come behind another before that was locked is the one that is locked, in another try', async () => {
  let tries = 0;
  const left = await whileMoved(2, () =>
    stores.transaction(async (inside: Stores) => {
      tries += 1;
      await lockNamedRows(inside, stockOfOrder);
      // A lock leaves with the next statement.
      await inside.orders.count({});
      return unlocked();
    }, 'atomic'),
  );
  expect([tries, left]).toEqual([2, ['1']]);
});

it('outside of @atomic it is told to try again', async () => {
  const work = whileMoved(1, () => stores.transaction((inside) => lockNamedRows(inside, stockOfOrder)));
  await expect(work).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('at the same time'),
  });
});

it.each(['1', '4711', 'x'])('there is none behind a row that names none, or is not there: %s', async (id) => {
  await cluster.sql('update orders set pet_id = null where id = 1');
  const rows = [change('order', id), change('inventory', behind('order', id, 'petId'))];
  await expect(stores.transaction((inside) => lockNamedRows(inside, rows))).resolves.toBeUndefined();
});
