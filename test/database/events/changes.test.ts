import { beforeEach, expect, it } from '@jest/globals';

import { emptyStore } from '../../support/empty-store.ts';
import { connect } from '../../support/postgres-client.ts';
import { newCategory } from '../../support/new-category.ts';
import { serverUrl } from '../../support/template-database.ts';
import { openEventLog } from './event-log.ts';

const resync = ['store.resync'];

const log = await openEventLog();

beforeEach(async () => {
  await emptyStore(log);
  await log.sql(`
    insert into categories (name) values ('Dogs'), ('Cats');
    insert into pets (name, category_id) values ('Rex', 1), ('Tom', 2);
    insert into inventory (pet_id, quantity) values (1, 5), (2, 6)`);
});

/** Without fields that have no value, so that further ones change nothing here. */
const eventsOfWork = async (work: () => Promise<unknown>, limit?: number): Promise<string[]> =>
  (await log.eventsOf(work, limit)).map((event) => event.replaceAll(/,"\w+":null/g, ''));
const eventsOf = (sql: string, limit?: number): Promise<string[]> => eventsOfWork(() => log.sql(sql), limit);

it('a created object is one event with all its fields', async () => {
  expect(await eventsOf(`insert into categories (name, description) values ('Birds', 'They fly.')`)).toEqual([
    'category.created {"id":"3","name":"Birds","description":"They fly."}',
  ]);
  expect(
    await eventsOf(
      `insert into orders (id, pet_id, quantity, ship_date) values (9223372036854775807, 1, 2, '2026-01-02T03:04:05.678Z')`,
    ),
  ).toEqual([
    'order.created {"id":"9223372036854775807","petId":"1","quantity":2,"shipDate":"2026-01-02T03:04:05.678Z","complete":false}',
  ]);
});

it('a pet that is created with its stock is two events, in one statement of the store too', async () => {
  const { pets } = log.stores;
  const insert = () =>
    pets.insert({ name: 'Bo', status: 'sold', categoryId: '1' as never, inventory: { quantity: 0 } } as never, []);
  expect(await eventsOfWork(insert)).toEqual([
    'pet.created {"id":"3","name":"Bo","status":"sold","categoryId":"1"}',
    'inventory.created {"petId":"3","quantity":0,"status":"sold"}',
  ]);
});

it('a change has the fields as they are after it, made by the service or by SQL', async () => {
  expect(await eventsOf(`update pets set name = 'Max' where id = 1`)).toEqual([
    'pet.updated {"id":"1","name":"Max","status":"available","categoryId":"1"}',
  ]);
  expect(await eventsOf(`update categories set description = null, name = 'Hounds' where id = 1`)).toEqual([
    'category.updated {"id":"1","name":"Hounds"}',
  ]);
});

it('has the request that its transaction names, through a backlog too; the service itself names none', async () => {
  await log.move();
  const start = await log.stores.events.last();
  await log.sql(`begin; set local petstore.request = '7:one'; update pets set status = 'sold' where id <= 2; commit`);
  await log.stores.categories.insert(newCategory('Birds'));
  // Of a writer that is no process of ours.
  await log.sql(`begin; select set_config('petstore.request', repeat('7', 1000000) || ':', true);
    delete from categories where name = 'Birds'; commit`);
  await log.move(1);
  const request = { keyId: '7', requestId: 'one' };
  expect((await log.readAfter(start)).map((event) => [event.type, event.request])).toEqual([
    ['pet.updated', request],
    ['inventory.updated', request],
    ['pet.updated', request],
    ['inventory.updated', request],
    ['category.created', undefined],
    ['category.deleted', undefined],
  ]);
});

it('what changes nothing, changes no row, or is rolled back is no event', async () => {
  expect(await eventsOf(`update pets set name = 'Rex', status = 'available' where id = 1`)).toEqual([]);
  expect(await eventsOf(`update pets set name = 'Rex' where id = 99`)).toEqual([]);
  expect(await eventsOf(`insert into pets (name, category_id) select 'x', 1 where false`)).toEqual([]);
  expect(await eventsOf(`begin; delete from inventory; rollback`)).toEqual([]);
  expect(
    await eventsOf(
      `begin; savepoint a; update pets set name = 'A'; rollback to a; update pets set name = 'B' where id = 1; commit`,
    ),
  ).toEqual(['pet.updated {"id":"1","name":"B","status":"available","categoryId":"1"}']);
});

it('a changed id is a deletion and a creation', async () => {
  expect(
    (
      await eventsOf(
        `update categories set id = 7 where id = 2 and not exists (select from pets where category_id = 2)`,
      )
    ).length,
  ).toBe(0);
  const events = await eventsOf(
    `insert into categories (id, name) values (8, 'Fish'); update categories set id = 7 where id = 8`,
  );
  expect(events.slice(1).toSorted()).toEqual([
    'category.created {"id":"7","name":"Fish"}',
    'category.deleted {"id":"8","name":"Fish"}',
  ]);
});

it('a deletion has the fields before it, and its dependents have complete events of their own', async () => {
  expect(await eventsOf(`update pets set status = 'sold' where id = 1; delete from pets where id = 1`)).toEqual([
    'pet.updated {"id":"1","name":"Rex","status":"sold","categoryId":"1"}',
    'inventory.updated {"petId":"1","quantity":5,"status":"sold"}',
    'pet.deleted {"id":"1","name":"Rex","status":"sold","categoryId":"1"}',
    'inventory.deleted {"petId":"1","quantity":5,"status":"sold"}',
  ]);
  expect(await eventsOf(`insert into orders (pet_id) values (2); delete from orders`)).toEqual([
    expect.stringMatching('^order.created'),
    'order.cancelled {"id":"1","petId":"2","complete":false}',
  ]);
});

it('deletions that one run cannot move keep their entries complete', async () => {
  await log.sql(`insert into pets (id, name, status, category_id) select n, 'P', 'pending', 1 from generate_series(100, 199) n;
    insert into inventory (pet_id, quantity) select n, n from generate_series(100, 199) n`);
  const events = await eventsOf('delete from pets where id >= 100', 7);
  expect(events.length).toBe(200);
  expect(events.filter((event) => event.startsWith('inventory.deleted') && event.includes('pending')).length).toBe(100);
});

it('an entry has an event of its own when only the status of its pet changes', async () => {
  expect(await eventsOf(`update pets set status = 'sold', name = 'Rex II' where id = 1`)).toEqual([
    'pet.updated {"id":"1","name":"Rex II","status":"sold","categoryId":"1"}',
    'inventory.updated {"petId":"1","quantity":5,"status":"sold"}',
  ]);
  expect(
    await eventsOf(`delete from inventory where pet_id = 1; update pets set status = 'available' where id = 1`),
  ).toEqual([
    'inventory.deleted {"petId":"1","quantity":5,"status":"sold"}',
    'pet.updated {"id":"1","name":"Rex II","status":"available","categoryId":"1"}',
  ]);
});

it('an entry that is deleted or created between two changes of its pet has events only while it exists', async () => {
  const events = await eventsOf(`update pets set status = 'sold' where id = 1;
    delete from inventory where pet_id = 1;
    update pets set status = 'pending' where id = 1;
    insert into inventory (pet_id, quantity) values (1, 9);
    update pets set status = 'available' where id = 1`);
  expect(events.filter((event) => event.startsWith('inventory'))).toEqual([
    'inventory.updated {"petId":"1","quantity":5,"status":"sold"}',
    'inventory.deleted {"petId":"1","quantity":5,"status":"sold"}',
    'inventory.created {"petId":"1","quantity":9,"status":"pending"}',
    'inventory.updated {"petId":"1","quantity":9,"status":"available"}',
  ]);
});

it('a change of a pet that has no entry yet is no event of the entry that it gets', async () => {
  await eventsOf('delete from inventory where pet_id = 1');
  const events = await eventsOf(`update pets set status = 'sold' where id = 1;
    insert into inventory (pet_id, quantity) values (1, 9)`);
  expect(events.filter((event) => event.startsWith('inventory'))).toEqual([
    'inventory.created {"petId":"1","quantity":9,"status":"sold"}',
  ]);
});

it('the events of an entry have both halves as the changes before them left them, however many one run moves', async () => {
  const events = await eventsOf(`update inventory set quantity = 1 where pet_id = 1;
    update pets set status = 'sold' where id = 1;
    update inventory set quantity = 2 where pet_id = 1;
    update pets set status = 'pending' where id = 1;
    update inventory set quantity = 3 where pet_id = 1`);
  expect(events.filter((event) => event.startsWith('inventory'))).toEqual([
    'inventory.updated {"petId":"1","quantity":1,"status":"available"}',
    'inventory.updated {"petId":"1","quantity":1,"status":"sold"}',
    'inventory.updated {"petId":"1","quantity":2,"status":"sold"}',
    'inventory.updated {"petId":"1","quantity":2,"status":"pending"}',
    'inventory.updated {"petId":"1","quantity":3,"status":"pending"}',
  ]);
});

it('TRUNCATE, and what says that it is a bulk change, is one resynchronization for each transaction', async () => {
  expect(await eventsOf('truncate orders, inventory')).toEqual(resync);
  expect(
    await eventsOf(`begin; set local petstore.events = 'off'; update pets set name = 'A'; delete from orders;
      insert into categories (name) values ('x'); truncate orders; commit`),
  ).toEqual(resync);
  expect(
    await eventsOf(`begin; set local petstore.events = 'off'; update pets set name = 'B' where id = 99; commit`),
  ).toEqual([]);
  // What is rolled back to a savepoint leaves the next one to say it.
  expect(
    await eventsOf(`begin; savepoint a; truncate orders; rollback to a; truncate inventory; commit; truncate orders`),
  ).toEqual([...resync, ...resync]);
});

it('what refers to rows that TRUNCATE has removed is left out, and the resynchronization follows', async () => {
  const events = await eventsOf(`update inventory set quantity = 8 where pet_id = 1; truncate pets cascade`);
  expect(events).toEqual(resync);
});

it.each([
  ['a value that its column does not take', 1_000, `('order.updated', 1, null, null, '{"id":1,"quantity":"many"}')`],
  ['a body that is no object', 1_000, `('order.updated', 1, null, null, '[]')`],
  ['half of a state that is no number', 1_000, `('inventory.updated', 1, null, 'many', null)`],
  ['no half of a state', 1_000, `('inventory.created', 1, null, null, null)`],
  ['no half of a state, and many after it', 20, `('inventory.created', 1, null, null, null)`],
])(
  'a row of the outbox with %s does not stop the log: what is moved with it is store.resync',
  async (_, limit, row) => {
    const events = await eventsOf(
      `insert into event_outbox (type, object_id, before, after, body) values ${row};
     insert into categories (name) select 'n' || n from generate_series(1, 200) as n`,
      limit,
    );
    expect(events).toContain('store.resync');
    expect(await eventsOf(`update categories set name = 'Hounds' where id = 1`)).toEqual([
      'category.updated {"id":"1","name":"Hounds"}',
    ]);
  },
);

it('the instants of an order do not depend on the time zone of the session', async () => {
  const events = await eventsOf(`begin; set local timezone = 'America/New_York'; set local datestyle = 'German';
    insert into orders (ship_date) values ('0001-01-01T00:00:00Z'), ('9999-12-31T23:59:59.999Z'), ('2026-07-01T00:00:00Z'); commit`);
  expect(events.map((event) => /"shipDate":"(.*?)"/.exec(event)?.[1])).toEqual([
    '0001-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '2026-07-01T00:00:00.000Z',
  ]);
});

it('what the caller puts before the functions, operators and types of PostgreSQL is not used', async () => {
  const events = await eventsOf(`create schema hostile;
    create function hostile.current_setting(text, boolean) returns text language sql as $$ select 'off' $$;
    create function hostile.row_to_json(record) returns json language plpgsql as $$ begin return '{"id": 666}'; end $$;
    create function hostile.differs(text, text) returns boolean language sql as $$ select false $$;
    create function hostile.same(bigint, bigint) returns boolean language sql as $$ select false $$;
    create operator hostile.<> (leftarg = text, rightarg = text, function = hostile.differs);
    create operator hostile.= (leftarg = bigint, rightarg = bigint, function = hostile.same);
    create table hostile.event_outbox (like event_outbox);
    create table hostile.was (like pets);
    create domain hostile.text as pg_catalog.text check (false);
    -- As in a new session, the function is compiled again.
    alter function petstore_category_insert_events() security definer;
    set search_path = hostile, pg_catalog, public;
    update public.pets set status = 'sold' where name = 'Rex';
    set petstore.request = 'one,another';
    insert into public.categories (name) values ('Birds'), ('Fish');
    reset petstore.request;
    reset search_path;
    drop schema hostile cascade`);
  expect(events).toEqual([
    'pet.updated {"id":"1","name":"Rex","status":"sold","categoryId":"1"}',
    'inventory.updated {"petId":"1","quantity":5,"status":"sold"}',
    'category.created {"id":"3","name":"Birds"}',
    'category.created {"id":"4","name":"Fish"}',
  ]);
});

it.each(['before', 'after'])(
  'the last event of an inventory entry is its state, whose stock is changed and moved %s a commit that sells its pet',
  async (moved) => {
    const selling = await connect(log.location);
    const events = await log.eventsOf(async () => {
      await selling.query(`begin; update pets set status = 'sold' where id = 1`);
      const changed = log.sql('update inventory set quantity = 4 where pet_id = 1');
      // The embedded database serves one transaction at a time.
      if (serverUrl() !== undefined) {
        await changed;
        if (moved === 'before') await log.move();
      }
      await selling.query('commit');
      await changed;
    });
    await selling.end();
    expect(events.findLast((event) => event.startsWith('inventory.updated'))).toBe(
      'inventory.updated {"petId":"1","quantity":4,"status":"sold"}',
    );
  },
);
