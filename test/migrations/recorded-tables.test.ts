import { expect, it } from '@jest/globals';

import { forgetEvents, recordEvents } from '../../migrations/2026-11-27-events/recorded-table.ts';
import { openTestDatabase } from '../support/opened-database.ts';

const opened = await openTestDatabase();
await opened.sql('create table vouchers (id bigint generated always as identity primary key, name text not null)');
const vouchers = { table: 'vouchers', noun: 'voucher' };
for (const script of recordEvents(vouchers)) await opened.sql(script);

/** The events of a statement, as types with ids and bodies. */
async function eventsOf(text: string): Promise<string[]> {
  const [before] = await opened.sql('select position from event_state');
  await opened.sql(text);
  await opened.sql(`select petstore_move_events('recorded-tables', 1000)`);
  const rows = await opened.sql('select type, object_id, body from events where position > $1 order by position', [
    before!['position'],
  ]);
  return rows.map(({ type, object_id: id, body }) =>
    [type, id, body && JSON.stringify(body)].filter(Boolean).join(' '),
  );
}

it('each change of a further table is an event, once its migration has asked for it', async () => {
  expect(await eventsOf(`insert into vouchers (name) values ('Ann'), ('Ben')`)).toEqual([
    'voucher.created 1 {"id":1,"name":"Ann"}',
    'voucher.created 2 {"id":2,"name":"Ben"}',
  ]);
  expect(await eventsOf(`update vouchers set name = 'Ann'`)).toEqual(['voucher.updated 2 {"id":2,"name":"Ann"}']);
  expect(await eventsOf('delete from vouchers where id = 1')).toEqual(['voucher.deleted 1 {"id":1,"name":"Ann"}']);
  expect(await eventsOf('truncate vouchers')).toEqual(['store.resync']);
  const bulk = `begin; set local petstore.events = 'off'; insert into vouchers (name) values ('Cy'); commit`;
  expect(await eventsOf(bulk)).toEqual(['store.resync']);
});

it('on the way down the table is as it was', async () => {
  await opened.sql(forgetEvents(vouchers));
  expect(await eventsOf(`insert into vouchers (name) values ('Dan')`)).toEqual([]);
});
