import { expect, it } from '@jest/globals';

import { ClientBatches } from '../../../src/platform/postgres/client-batches.ts';
import { NoFreeConnection } from '../../../src/platform/postgres/connection-slots.ts';
import { failureOf } from '../../../src/platform/postgres/driver-errors.ts';
import { callers } from '../../support/caller.ts';

const together = (failure: Error): Promise<readonly PromiseSettledResult<string>[]> => {
  const batches = new ClientBatches<string, string>({
    maxEntries: 10,
    doAlone: async (_caller, work) => `${work} alone`,
    doTogether: async () => {
      throw failureOf(failure);
    },
  });
  return Promise.allSettled(['one', 'two'].map((work) => batches.add(callers.for('client'), work)));
};

it('a batch that got no connection in time, maybe because one of it had waited before, is done one by one', async () => {
  const outcomes = await together(new NoFreeConnection("one of your key's 3 database connections"));
  expect(outcomes).toMatchObject([{ value: 'one alone' }, { value: 'two alone' }]);
});

it('a batch that has lost the database is not done again: its COMMIT may have been carried out', async () => {
  const outcomes = await together(new Error('Connection terminated unexpectedly'));
  expect(outcomes).toMatchObject([{ reason: { reason: 'lost' } }, { reason: { reason: 'lost' } }]);
});
