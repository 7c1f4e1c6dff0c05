import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { Id } from '../../../src/domain/id.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { firstRows } from '../../support/keyset.ts';
import { openTestDatabase } from '../../support/opened-database.ts';
import { newCategory } from '../../support/new-category.ts';
import { callers } from '../../support/caller.ts';

/** As the embedded database has it. */
const opened = await openTestDatabase({ poolSize: 1 });

it('while a request of one client reads 48 pages, the read of another client is the next one', async () => {
  const done: string[] = [];
  const read = async (client: string, limit: number): Promise<void> => {
    await opened.database.stores.for(callers.for(client)).pets.page({}, firstRows(limit));
    done.push(client);
  };
  await read('a', 100);
  done.length = 0;
  const pages = Array.from({ length: 48 }, (_, index) => read('a', index + 1));
  await new Promise(setImmediate);
  await Promise.all([...pages, read('b', 1)]);
  expect(done.indexOf('b')).toBe(1);
});

it('what follows a statement that fails is not taken for prepared', async () => {
  const record = { principalId: 'one', key: 'key', field: 'a', fingerprint: '', createdAt: new Date() };
  const save = (payload: string) =>
    opened.stores.transaction(async ({ idempotency, categories }) => {
      await idempotency.save({ ...record, result: { payload } });
      await categories.lockAll(['1' as Id], 'refer');
    });
  // The lock and COMMIT are sent with the first one, and for the first time here.
  await expect(save('x'.repeat(20_000))).rejects.toMatchObject({ code: '23514' });
  await expect(save('short')).resolves.toBeUndefined();
});

const gone = new Error('The client has disconnected.');

describe('while a transaction of another request has the connection', () => {
  let release: () => void;
  let occupied: Promise<unknown>;

  beforeEach(async () => {
    await new Promise<void>((begun) => {
      occupied = opened.stores.transaction(async ({ categories }) => {
        await categories.count({});
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

  it.each<[string, (stores: Stores) => Promise<unknown>]>([
    ['read', ({ pets }) => pets.count({})],
    ['transaction', (stores) => stores.transaction(({ categories }) => categories.insert(newCategory('Never')))],
  ])('nothing is sent of a %s that waits for it when its client disconnects', async (_what, work) => {
    const caller = callers.for('one');
    const outcome = work(opened.database.stores.for(caller));
    await new Promise(setImmediate);
    caller.abort(gone);
    await expect(outcome).rejects.toBe(gone);
    release();
    await occupied;
    expect(opened.statements).toEqual(['commit']);
  });

  it('a row is inserted for those who are still there', async () => {
    const [first, second] = [callers.for('one'), callers.for('one')];
    const { stores } = opened.database;
    const lost = stores.for(first).categories.insert(newCategory('Lost'));
    const kept = stores.for(second).categories.insert(newCategory('Kept'));
    first.abort(gone);
    release();
    await expect(lost).rejects.toBe(gone);
    expect(await kept).toMatchObject({ name: 'Kept' });
    expect(await opened.sql(`select from categories where name = 'Lost'`)).toEqual([]);
  });
});

it('a request that has begun to write is carried out whole when its client disconnects', async () => {
  const caller = callers.for('one');
  const inserted = await opened.database.stores.for(caller).transaction(async (inside) => {
    caller.abort(gone);
    return inside.categories.insert(newCategory('Whole'));
  });
  expect(caller.failure).toBeUndefined();
  expect(await opened.stores.categories.byIds([inserted.id])).toMatchObject([{ name: 'Whole' }]);
});
