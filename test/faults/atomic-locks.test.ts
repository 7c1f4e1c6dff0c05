import { expect, it } from '@jest/globals';

import { withClient } from '../support/postgres-client.ts';
import { codesOf } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { listenHere } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/*
 * On a server: the embedded database has one session, so nobody waits for a lock.
 */

const cluster = await startCluster();
const service = await listenHere({ DATABASE_URL: cluster.url });
await cluster.sql(`insert into categories (name) values ('Dogs'), ('Cats'), ('Fish');
  insert into pets (name, category_id) values ('Rex', 1), ('Max', 2);
  insert into inventory (pet_id, quantity) values (1, 5), (2, 5);
  insert into orders (pet_id, complete) values (1, false)`);

/** Until a statement of the service with this text waits for a lock. */
async function untilWaiting(part: string): Promise<void> {
  const waits = `select query from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'petstore-gateway'`;
  await until(async () => (await cluster.sql(waits)).some(({ query }) => String(query).includes(part)));
}

it('locks nothing while what is below its payloads is read, and shows the rows of its transaction', async () => {
  const { status, body } = await withClient(cluster.url, async (other) => {
    await other.query('begin; lock table orders in access exclusive mode');
    const sent = service.graphql(`mutation @atomic {
      updateCategory(input: { id: 1, name: "Hounds" }) { category { version pets { nodes { name category { name } } } } }
      updatePet(input: { id: 1, name: "Rexy" }) { pet { name version category { name version } orders { totalCount } } }
      updateInventory(input: { petId: 1, quantity: 4 }) { inventoryItem { quantity pet { name category { name } } } }
    }`);
    await untilWaiting('count(*), orders.pet_id');
    // Each would wait for a lock; they change all that the transaction has written.
    await cluster.sql(`set lock_timeout = '1s'; update categories set name = 'Later' where id = 1;
      update pets set name = 'Later' where id = 1; update inventory set quantity = 0 where pet_id = 1`);
    await other.query('commit');
    return sent;
  });
  expect([status, body.errors]).toEqual([200, undefined]);
  const { updateCategory, updatePet, updateInventory } = body.data;
  expect(updatePet.pet).toMatchObject({ name: 'Rexy', category: { name: 'Hounds' }, orders: { totalCount: 1 } });
  expect(updatePet.pet.category.version).toBe(updateCategory.category.version);
  // Relations of relations are read afterwards.
  expect(updateInventory.inventoryItem).toEqual({ quantity: 4, pet: { name: 'Rexy', category: { name: 'Later' } } });
  const now = await service.graphql('{ pet(id: 1) { version category { version } } }');
  expect(now.body.data.pet.version).not.toBe(updatePet.pet.version);
  expect(now.body.data.pet.category.version).not.toBe(updateCategory.category.version);
});

it('lets others name a row that it may delete, until it deletes it', async () => {
  const { deleted, created } = await withClient(cluster.url, async (other) => {
    await other.query('begin; update pets set name = name where id = 2');
    const deletion = service.graphql(`mutation @atomic {
      updatePet(input: { id: 2, name: "Maxine", ifVersion: "another" }) { pet { id } }
      deleteCategory(input: { id: 2 }) { deletedCategoryId }
    }`);
    await untilWaiting('for no key update');
    const response = await service.post('/pets', { name: 'Minka', categoryId: 2 });
    await other.query('commit');
    return { deleted: await deletion, created: response.status };
  });
  expect([created, codesOf(deleted.body)]).toEqual([201, ['PRECONDITION_FAILED', 'ABORTED']]);
});

it.each([
  ['is refused when it has been named', 'commit', ['ABORTED', 'CONFLICT']],
  ['is done when it is not named after all', 'rollback', []],
])('a deletion that meets others who are naming the row %s', async (_what, end, expected) => {
  const codes = await withClient(cluster.url, async (other) => {
    await other.query(`begin; insert into pets (name, category_id) values ('Wanda', 3)`);
    const deletion = service.graphql(`mutation @atomic {
      updatePet(input: { id: 1, categoryId: 1 }) { pet { id } }
      deleteCategory(input: { id: 3 }) { deletedCategoryId }
    }`);
    await untilWaiting('for update');
    // The transaction has begun again, and waits for its first lock: it has none that another needs.
    await other.query(`set local lock_timeout = '1s'; update pets set name = name where id = 1`);
    await other.query(end);
    return codesOf((await deletion).body);
  });
  await cluster.sql('delete from pets where category_id = 3');
  expect(codes).toEqual(expected);
});
