import { expect, it } from '@jest/globals';

import { Accounts } from '../../../src/platform/callers/accounts.ts';
import { ConnectionPool, type PoolOptions } from '../../../src/platform/postgres/connection-pool.ts';
import { ConnectionFailure } from '../../../src/platform/postgres/connection-failure.ts';
import { testCaller } from '../../support/caller.ts';
import { holdLoop } from '../../support/measurement.ts';

it('a connection whose deadline has passed before it is opened is refused, and no timer gets a negative time', async () => {
  const warnings: string[] = [];
  process.on('warning', ({ name }) => warnings.push(name));
  let fail: (error: Error) => void = () => undefined;
  const open = (): Promise<never> => new Promise((_resolve, reject) => (fail = reject));
  const servers = { open, onRetire: () => undefined } as unknown as PoolOptions['servers'];
  const connection = { session: 'server', connectTimeoutMillis: 1_000 } as const;
  const pool = new ConnectionPool({
    servers,
    connection,
    size: 1,
    accounts: new Accounts(),
    ofClient: 1,
    waitMillis: 50,
  });
  const first = pool.connect(testCaller);
  const second = pool.connect(testCaller);
  await new Promise(setImmediate);
  // As a busy process, which doesn't run its timers.
  holdLoop(300);
  fail(new ConnectionFailure(new Error('The first connection')));
  await expect(first).rejects.toThrow('The first connection');
  await expect(second).rejects.toThrow('No connection in time');
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});
