import { describe, expect, it } from '@jest/globals';

import { Batches } from '../../../src/platform/postgres/batches.ts';
import { NoFreeConnection } from '../../../src/platform/postgres/connection-slots.ts';
import { failureOf } from '../../../src/platform/postgres/driver-errors.ts';
import { service } from '../../../src/platform/callers/index.ts';
import { callers } from '../../support/caller.ts';

/** Batches whose works end as `fail` says, and what was done together, and by whom. */
function batchesOf(fail: (work: string) => Error | undefined = () => undefined, maxEntries = 10) {
  const together: { readonly by: string; readonly works: readonly string[] }[] = [];
  const batches = new Batches<string, string>({
    callers,
    maxEntries,
    doAlone: async (_caller, work) => {
      const failure = fail(work);
      if (failure !== undefined) throw failure;
      return `${work} alone`;
    },
    doTogether: async ({ id }, works) => {
      together.push({ by: id, works });
      for (const work of works) {
        const failure = fail(work);
        if (failure !== undefined) throw failureOf(failure);
      }
      return works;
    },
  });
  const add = (works: readonly string[], clientOf = (work: string): string => work) =>
    Promise.allSettled(works.map((work) => batches.add(callers.for(clientOf(work)), work)));
  return { add, together };
}

describe('a batch', () => {
  it('that got no connection in time, maybe because one of it had waited before, is done one by one', async () => {
    const failure = new NoFreeConnection("one of your key's 3 database connections");
    let isFirst = true;
    const { add } = batchesOf(() => {
      if (!isFirst) return undefined;
      isFirst = false;
      return failure;
    });
    expect(await add(['one', 'two'])).toMatchObject([{ value: 'one alone' }, { value: 'two alone' }]);
  });

  it('that has lost the database is not done again: its COMMIT may have been carried out', async () => {
    const { add } = batchesOf(() => new Error('Connection terminated unexpectedly'));
    expect(await add(['one', 'two'])).toMatchObject([{ reason: { reason: 'lost' } }, { reason: { reason: 'lost' } }]);
  });

  it('has the works of all clients, one of each in turn, however many one of them has', async () => {
    const { add, together } = batchesOf(undefined, 4);
    await add(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'], ([client]) => client!);
    expect(together).toEqual([
      { by: service, works: ['a1', 'b1', 'c1', 'a2'] },
      { by: service, works: ['b2', 'a3', 'a4', 'a5'] },
    ]);
  });

  it('that fails because of one client has none of its works the next time', async () => {
    const { add, together } = batchesOf((work) => (work.startsWith('bad') ? new Error('refused') : undefined));
    const clientOf = (work: string): string => work.split(' ')[0]!;
    const failed = await add(['one', 'bad', 'two'], clientOf);
    expect(failed).toMatchObject([{ value: 'one alone' }, { status: 'rejected' }, { value: 'two alone' }]);
    together.length = 0;
    const next = await add(['one', 'bad 1', 'two', 'bad 2'], clientOf);
    expect(together).toEqual([
      { by: service, works: ['one', 'two'] },
      { by: 'bad', works: ['bad 1', 'bad 2'] },
    ]);
    expect(next.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
  });
});
