import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { LookUps } from '../../src/postgres/look-ups.ts';
import { FixedStatement } from '../../src/postgres/statement.ts';
import type { LookUp } from '../../src/postgres/session.ts';
import { RequestContext } from '../../src/domain/access/current-request.ts';
import type { Id } from '../../src/domain/id.ts';
import { openTestDatabase, type OpenedDatabase } from '../support/opened-database.ts';

let opened: OpenedDatabase;

beforeAll(async () => {
  opened = await openTestDatabase();
  await opened.sql(`insert into categories (name) select 'Category ' || n from generate_series(1, 50) as n`);
  await opened.sql(
    `insert into pets (name, category_id) select 'Pet ' || n, 1 + n % 50 from generate_series(1, 250) as n`,
  );
  await opened.sql('insert into inventory (pet_id, quantity) select id, 1000 + id from pets');
});

afterAll(() => opened.close());

it('of many at the same time each gets its own row, with the related rows that it asks for, or none', async () => {
  const { pets, categories } = opened.database.stores;
  const ids = Array.from({ length: 240 }, (_, n) => 1 + ((n * 7919) % 300));
  await Promise.all(
    ids.map(async (n) => {
      const id = String(n) as Id;
      const [[pet], [withRelations], [category]] = await Promise.all([
        pets.byIds([id]),
        pets.byIds([id], ['category', 'inventory']),
        categories.byIds([id]),
      ]);
      expect(pet).toEqual(
        n > 250 ? undefined : { id, name: `Pet ${n}`, status: 'available', categoryId: String(1 + (n % 50)) },
      );
      expect(withRelations?.inventory?.quantity).toBe(n > 250 ? undefined : 1000 + n);
      expect(withRelations?.category?.name).toBe(n > 250 ? undefined : `Category ${1 + (n % 50)}`);
      expect(category?.name).toBe(n > 50 ? undefined : `Category ${n}`);
    }),
  );
});

function fail(error: unknown): never {
  throw error;
}

function lookUpOf(kind: string): LookUp<unknown> {
  const decode = ([id]: readonly unknown[]): unknown => ({ kind, id });
  return {
    readOne: (id) => new FixedStatement(`${kind} of one`, decode).with([id]),
    readMany: (ids) => new FixedStatement(`${kind} of all`, decode).with([ids]),
    idOf: (row) => (row as { id: string }).id,
  };
}

it('look-ups of each kind are statements of at most 100 ids, and one alone is a statement of its own', () => {
  const lookUps = new LookUps(fail);
  const [pets, orders] = [lookUpOf('pets'), lookUpOf('orders')];
  const got: unknown[] = [];
  for (let n = 0; n < 201; n += 1) {
    const caller = {
      id: String(n),
      request: undefined,
      resolve: (row: unknown) => got.push(row),
      reject: fail,
    };
    lookUps.add(pets, caller);
    if (n === 0) lookUps.add(orders, caller);
  }
  const reads = lookUps.take();
  expect(reads.map(({ read: { text, values } }) => [text, values.flat().length])).toEqual([
    ['pets of all', 100],
    ['orders of one', 1],
    ['pets of all', 100],
    ['pets of one', 1],
  ]);
  reads[1]?.resolve([{ kind: 'orders', id: '0' }]);
  expect(got).toEqual([{ kind: 'orders', id: '0' }]);
  expect(lookUps.take()).toEqual([]);
});

it('look-ups of different clients are statements of their own', () => {
  const lookUps = new LookUps(fail);
  const pets = lookUpOf('pets');
  for (const client of ['one', 'two', 'one']) {
    lookUps.add(pets, { id: '1', request: new RequestContext(client), resolve: fail, reject: fail });
  }
  const reads = lookUps.take();
  expect(reads.map(({ subject, read }) => [subject, read.values.flat().length])).toEqual([
    ['one', 2],
    ['two', 1],
  ]);
});

it('look-ups that fail together are retried alone, unless the database or their request is lost', () => {
  const retried: string[] = [];
  const failed: Record<string, unknown> = {};
  const lookUps = new LookUps(({ read }) => retried.push(...(read.values as string[])));
  const pets = lookUpOf('pets');
  const gone = new RequestContext('one');
  gone.abort(new Error('The client has disconnected.'));
  const failTogether = (error: Error): void => {
    for (const [id, request] of Object.entries({
      1: new RequestContext('one'),
      2: gone,
      3: new RequestContext('one'),
    })) {
      lookUps.add(pets, { id, request, resolve: fail, reject: (reason) => (failed[id] = reason.message) });
    }
    lookUps.take()[0]?.reject(error);
  };
  failTogether(new Error('invalid page in block 7'));
  expect([retried, failed]).toEqual([['1', '3'], { 2: 'The client has disconnected.' }]);
  failTogether(new Error('Connection terminated unexpectedly'));
  expect(retried).toEqual(['1', '3']);
  expect(Object.keys(failed)).toEqual(['1', '2', '3']);
});
