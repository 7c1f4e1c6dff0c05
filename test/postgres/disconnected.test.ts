import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { RequestContext, runIn } from '../../src/domain/access/current-request.ts';
import type { Id } from '../../src/domain/id.ts';
import { openTestDatabase, type OpenedDatabase } from '../support/opened-database.ts';

/** One connection, which a transaction of another request has until `release`. */
let opened: OpenedDatabase;
let categoryId: Id;
let release: () => void;
let occupied: Promise<unknown>;

const gone = new Error('The client has disconnected.');

beforeAll(async () => {
  opened = await openTestDatabase({ poolSize: 1 });
  ({ id: categoryId } = await opened.database.stores.categories.insert({ name: 'Birds' }));
});

afterAll(() => opened.close());

beforeEach(async () => {
  await new Promise<void>((begun) => {
    occupied = opened.database.stores.transaction(async ({ categories }) => {
      await categories.byIds([categoryId]);
      begun();
      await new Promise<void>((resolve) => (release = resolve));
    });
  });
  opened.statements.length = 0;
});

afterEach(async () => {
  release();
  await occupied;
});

async function expectNothingSent(work: () => Promise<unknown>): Promise<void> {
  const request = new RequestContext('one');
  const outcome = runIn(request, work);
  await new Promise(setImmediate);
  request.abort(gone);
  await expect(outcome).rejects.toBe(gone);
  release();
  await occupied;
  expect(opened.statements).toEqual(['commit']);
}

describe('when its client disconnects, a request sends nothing of what waits for a connection:', () => {
  it('a read', () => expectNothingSent(() => opened.database.stores.pets.count({})));

  it('a transaction', () =>
    expectNothingSent(() =>
      opened.database.stores.transaction(({ categories }) => categories.insert({ name: 'Never' })),
    ));
});

it('when its client disconnects, a request that has begun to write is carried out whole', async () => {
  release();
  await occupied;
  const request = new RequestContext('one');
  const { stores } = opened.database;
  const inserted = await runIn(request, () =>
    stores.transaction(async (inside) => {
      request.abort(gone);
      return inside.categories.insert({ name: 'Kept' });
    }),
  );
  await runIn(request, () => stores.categories.delete(inserted.id));
  expect(request.failure).toBeUndefined();
});

it('a row is inserted for those who are still there', async () => {
  const [first, second] = [new RequestContext('one'), new RequestContext('one')];
  const { categories } = opened.database.stores;
  const lost = runIn(first, () => categories.insert({ name: 'Lost' }));
  const kept = runIn(second, () => categories.insert({ name: 'Kept' }));
  first.abort(gone);
  release();
  await expect(lost).rejects.toBe(gone);
  expect(await kept).toMatchObject({ name: 'Kept' });
  expect(await opened.sql(`select from categories where name = 'Lost'`)).toEqual([]);
});
