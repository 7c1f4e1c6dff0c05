import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Stores } from '../../../src/domain/stores.ts';
import { openTestDatabase } from '../../support/opened-database.ts';
import { callers, testCaller } from '../../support/caller.ts';

let release: () => void;
let occupied: Promise<unknown>;

const gone = new Error('The client has disconnected.');

/** One connection, which a transaction of another request has until `release`. */
const opened = await openTestDatabase({ poolSize: 1 });
const { id: categoryId } = await opened.database.stores.for(testCaller).categories.insert({ name: 'Birds' });

beforeEach(async () => {
  await new Promise<void>((begun) => {
    occupied = opened.database.stores.for(testCaller).transaction(async ({ categories }) => {
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

async function expectNothingSent(work: (stores: Stores) => Promise<unknown>): Promise<void> {
  const caller = callers.for('one');
  const outcome = work(opened.database.stores.for(caller));
  await new Promise(setImmediate);
  caller.abort(gone);
  await expect(outcome).rejects.toBe(gone);
  release();
  await occupied;
  expect(opened.statements).toEqual(['commit']);
}

describe('when its client disconnects, a request sends nothing of what waits for a connection:', () => {
  it('a read', () => expectNothingSent(({ pets }) => pets.count({})));

  it('a transaction', () =>
    expectNothingSent((stores) => stores.transaction(({ categories }) => categories.insert({ name: 'Never' }))));
});

it('when its client disconnects, a request that has begun to write is carried out whole', async () => {
  release();
  await occupied;
  const caller = callers.for('one');
  const stores = opened.database.stores.for(caller);
  const inserted = await stores.transaction(async (inside) => {
    caller.abort(gone);
    return inside.categories.insert({ name: 'Kept' });
  });
  await stores.categories.delete(inserted.id);
  expect(caller.failure).toBeUndefined();
});

it('a row is inserted for those who are still there', async () => {
  const [first, second] = [callers.for('one'), callers.for('one')];
  const { stores } = opened.database;
  const lost = stores.for(first).categories.insert({ name: 'Lost' });
  const kept = stores.for(second).categories.insert({ name: 'Kept' });
  first.abort(gone);
  release();
  await expect(lost).rejects.toBe(gone);
  expect(await kept).toMatchObject({ name: 'Kept' });
  expect(await opened.sql(`select from categories where name = 'Lost'`)).toEqual([]);
});
