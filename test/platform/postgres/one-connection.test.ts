import { expect, it } from '@jest/globals';

import type { Keyset } from '../../../src/domain/page.ts';
import { openTestDatabase } from '../../support/opened-database.ts';
import { callers, testCaller } from '../../support/caller.ts';

/** As the embedded database has it. */
const opened = await openTestDatabase({ poolSize: 1 });

it('while a request of one client reads 48 pages, the read of another client is the next one', async () => {
  const done: string[] = [];
  const read = async (client: string, limit: number): Promise<void> => {
    const keyset: Keyset<'ID'> = {
      sort: { field: 'ID', direction: 'asc' },
      after: undefined,
      before: undefined,
      takeLast: false,
      limit,
    };
    await opened.database.stores.for(callers.for(client)).pets.page({}, keyset);
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
  const key = { principalId: 'one', key: 'key' };
  const [fingerprint, createdAt] = ['', new Date()];
  const save = (payload: string) =>
    opened.database.stores.for(testCaller).transaction(async ({ idempotency }) => {
      await idempotency.saveFields(key, [{ field: 'a', fingerprint, result: { payload } }], createdAt);
      await idempotency.save({ ...key, fingerprint, result: {}, createdAt });
    });
  // The second record and COMMIT are sent with the first one, and for the first time here.
  await expect(save('x'.repeat(20_000))).rejects.toMatchObject({ code: '23514' });
  await expect(save('short')).resolves.toBeUndefined();
});
