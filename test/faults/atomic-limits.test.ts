import { expect, it } from '@jest/globals';

import { withClient } from '../support/postgres-client.ts';
import { codesOf } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { listenHere } from '../support/test-app.ts';
import { until } from '../support/until.ts';

/**
 * On a server: the embedded database has one session, so no other transaction can hold a lock, and nothing can be
 * cancelled.
 */

const cluster = await startCluster();
const service = await listenHere({ DATABASE_URL: cluster.url });
await cluster.sql(`insert into categories (name) values ('Dogs');
  insert into pets (name, category_id) values ('Rex', 1), ('Max', 1);
  insert into inventory (pet_id, quantity) values (1, 5), (2, 5)`);

/** An order and a new name for the pet, together. */
async function orderAndRename(id: number) {
  const { status, headers, body } = await service.graphql(
    `mutation @atomic { order: createOrder(input: {}) { order { id } }
       name: updatePet(input: { id: ${id}, name: "New" }) { pet { name } } }`,
  );
  return { status, headers, data: body.data, codes: codesOf(body) };
}

it('an operation with @atomic ends after 2 s with 503, and nothing is carried out', async () => {
  const { status, data, codes, headers } = await withClient(cluster.url, async (other) => {
    await other.query('begin; update pets set name = name where id = 2');
    return orderAndRename(2);
  });
  expect([status, data, codes]).toEqual([503, undefined, ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']]);
  expect(headers.get('retry-after')).not.toBeNull();
  expect(await cluster.sql('select 1 from orders')).toEqual([]);
  const after = await service.graphql('mutation @atomic { updatePet(input: { id: 2, name: "New" }) { pet { name } } }');
  expect(after.body.errors).toBeUndefined();
});

it('an operation with @atomic is tried again after a deadlock', async () => {
  // PostgreSQL's own error, at the first of two tries: a sequence isn't rolled back.
  await cluster.sql(`create sequence tries;
    create function deadlock() returns trigger language plpgsql as
    $$ begin
      if nextval('tries') = 1 then raise exception 'deadlock' using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger deadlock before update on pets for each row when (new.id = 2) execute function deadlock()`);
  const { codes } = await orderAndRename(2);
  await cluster.sql('drop trigger deadlock on pets');
  expect(codes).toEqual([]);
  const [after] = await cluster.sql(
    'select last_value::int as tries, (select count(*)::int from orders) as orders from tries',
  );
  expect(after).toEqual({ tries: 2, orders: 1 });
});

it('operations with @atomic that lock in opposite orders do not wait for PostgreSQL to find the deadlock', async () => {
  await cluster.sql(`alter system set deadlock_timeout = '10s'`);
  await cluster.sql('select pg_reload_conf()');
  const rename = (id: number) => `pet${id}: updatePet(input: { id: ${id}, name: "Renamed" }) { pet { name } }`;
  await withClient(cluster.url, async (other) => {
    await other.query(`begin; update pets set name = 'Other' where id = 2`);
    const renamed = service.graphql(`mutation @atomic { ${rename(1)} ${rename(2)} }`);
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock'`;
    await until(async () => (await cluster.sql(waits)).length === 1);
    // Each has what the other one waits for.
    await other.query(`update pets set name = 'Other' where id = 1; commit`);
    expect((await renamed).body.errors).toBeUndefined();
  });
  expect(await cluster.sql('select name from pets order by id')).toEqual([{ name: 'Renamed' }, { name: 'Renamed' }]);
});

it('a COMMIT that fails makes all fields of an operation with @atomic null', async () => {
  await cluster.sql(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'disk full' using errcode = '53100'; end $$;
    create constraint trigger refuse after insert on orders deferrable initially deferred
      for each row execute function refuse()`);
  const { status, data, codes } = await orderAndRename(1);
  await cluster.sql('drop trigger refuse on orders');
  expect([status, data, codes]).toEqual([503, undefined, ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']]);
});
