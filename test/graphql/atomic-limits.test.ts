import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';

import { startTestApp, type TestApp } from '../support/test-app.ts';

/** The embedded database has one session: nobody else can hold a lock, and nothing can be cancelled. */
const onServer = (process.env['TEST_DATABASE_URL'] ?? '') === '' ? describe.skip : describe;

onServer('an operation with @atomic, beside other transactions', () => {
  let service: TestApp;
  let other: pg.Client;
  beforeAll(async () => {
    service = await startTestApp();
    await service.sql(`insert into categories (name) values ('Dogs'), ('Cats')`);
    await service.sql(`insert into pets (name, category_id) values ('Rex', 1), ('Max', 1)`);
    await service.sql('insert into inventory (pet_id, quantity) values (1, 5), (2, 5)');
    other = new pg.Client(service.environment['DATABASE_URL']);
    await other.connect();
  });
  afterAll(async () => {
    await other.end();
    await service.close();
  });

  const rename = (id: number) => `updatePet(input: { id: ${id}, name: "New" }) { pet { name } }`;

  it('ends after 2 s with 503, and nothing is carried out', async () => {
    await other.query('begin; update pets set name = name where id = 2');
    const { status, data, errors, headers } = await service.graphql(
      `mutation @atomic { a: createOrder(input: {}) { order { id } } b: ${rename(2)} }`,
    );
    await other.query('rollback');
    expect([status, data, errors.map(({ extensions: { code } }) => code)]).toEqual([
      503,
      { a: null, b: null },
      ['ABORTED', 'SERVICE_UNAVAILABLE'],
    ]);
    expect(headers['retry-after']).toBeDefined();
    expect(await service.sql('select 1 from orders')).toEqual([]);
    const after = await service.graphql(`mutation @atomic { b: ${rename(2)} }`);
    expect(after.errors).toEqual([]);
  });

  it('is tried again after a deadlock', async () => {
    // PostgreSQL's own error, at the first of two tries: a sequence isn't rolled back.
    await service.sql(`create sequence tries;
      create function deadlock() returns trigger language plpgsql as
      $$ begin
        if nextval('tries') = 1 then raise exception 'deadlock' using errcode = '40P01'; end if;
        return new;
      end $$;
      create trigger deadlock before update on pets for each row when (new.id = 2) execute function deadlock()`);
    const { errors } = await service.graphql(
      `mutation @atomic { a: createOrder(input: {}) { order { id } } b: ${rename(2)} }`,
    );
    await service.sql('drop trigger deadlock on pets');
    expect(errors).toEqual([]);
    expect(
      await service.sql('select last_value::int as tries, (select count(*)::int from orders) as orders from tries'),
    ).toEqual([{ tries: 2, orders: 1 }]);
  });

  it('a COMMIT that fails makes all fields null', async () => {
    await service.sql(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'disk full' using errcode = '53100'; end $$`);
    await service.sql(`create constraint trigger refuse after insert on orders deferrable initially deferred
      for each row execute function refuse()`);
    const { status, data, errors } = await service.graphql(
      `mutation @atomic { a: createOrder(input: {}) { order { id } } b: ${rename(1)} }`,
    );
    await service.sql('drop trigger refuse on orders');
    expect([status, data, errors.map(({ extensions: { code } }) => code)]).toEqual([
      503,
      { a: null, b: null },
      ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
    ]);
  });
});
