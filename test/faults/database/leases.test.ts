import { readFileSync } from 'node:fs';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { connectDatabase } from '../../../src/database/database.ts';
import { migrate } from '../../../src/database/start/migrate.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { atEnd } from '../../support/at-end.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { listenHere } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';
import { newCategory } from '../../support/new-category.ts';
import { testCaller } from '../../support/caller.ts';

const cluster = await startCluster();
const timeouts = { waitMillis: 300, statementTimeoutMillis: 300, responseTimeoutMillis: 400 };

/** Called before each statement. */
let onStatement: (sql: string) => void = () => undefined;

await migrate({ location: cluster.url });
/** Two exclusive connections: of three, one is for short reads. */
const database = await connectDatabase({
  location: cluster.url,
  poolSize: 3,
  timeouts,
  onStatement: (sql) => onStatement(sql),
});
atEnd(async () => {
  cluster.resume();
  await database.close();
});
const stores = database.stores.for(testCaller);
const category = await stores.categories.insert(newCategory('Leased'));

beforeEach(() => {
  onStatement = () => undefined;
});

/** Whether two transactions are under way at the same time, which need a connection each. */
async function areTwoFree(): Promise<boolean> {
  let entered = 0;
  let hasFailed = false;
  const enter = async (): Promise<void> => {
    try {
      await stores.transaction(async (inside) => {
        await inside.categories.byIds([category.id]);
        entered += 1;
        await until(() => entered === 2 || hasFailed);
      });
    } catch {
      hasFailed = true;
    }
  };
  await Promise.all([enter(), enter()]);
  return !hasFailed;
}

async function expectTwoFree(): Promise<void> {
  await until(areTwoFree);
  await until(() => {
    const { total, idle, waiting } = database.poolFigures();
    return total === idle && waiting === 0;
  });
}

/** Ends the server's processes for its clients. */
function cutConnections(): void {
  const children = readFileSync(`/proc/${cluster.pid}/task/${cluster.pid}/children`, 'utf8').trim().split(' ');
  for (const child of children) {
    if (readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('127.0.0.1')) process.kill(Number(child), 'SIGTERM');
  }
}

const faults: Readonly<Record<string, () => void>> = {
  'is refused': () => {
    throw Object.assign(new Error('Refused'), { code: '42501' });
  },
  'is cancelled': () => {
    throw Object.assign(new Error('canceling statement due to user request'), { code: '57014' });
  },
  'gets no response': () => cluster.pause(),
  'is on a connection that is cut': cutConnections,
};

const change = async ({ categories }: Stores): Promise<void> => {
  await categories.lock(category.id);
  await categories.update(category.id, { description: 'changed' });
};

const rollback = async ({ categories }: Stores): Promise<never> => {
  await categories.lock(category.id);
  throw new Error('rolled back');
};

describe.each(Object.keys(faults))('a transaction whose statement %s', (fault) => {
  it.each([
    ['begin', /^begin/, change],
    ['a read', /for (no key )?update/, change],
    ['a change', /^(with|update)/, change],
    ['commit', /^commit/, change],
    ['rollback', /^rollback/, rollback],
  ])('gives its connection back: %s', async (_, statement, work) => {
    let isDone = false;
    onStatement = (sql) => {
      if (isDone || !statement.test(sql)) return;
      isDone = true;
      faults[fault]!();
    };
    const transactions = [stores.transaction(work), stores.transaction(work)];
    await Promise.allSettled(transactions);
    cluster.resume();
    expect(isDone).toBe(true);
    await expectTwoFree();
  });
});

it('a transaction that the server cancels at its commit gives its connection back', async () => {
  await cluster.sql(
    `create function slow_commit() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return null; end $$;
     create constraint trigger slow_commit after update on categories deferrable initially deferred
       for each row execute function slow_commit()`,
  );
  const refused = expect(stores.transaction(change)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where query = 'commit' and state = 'active'`;
  await until(async () => (await cluster.sql(cancel)).length > 0);
  await refused;
  await cluster.sql('drop function slow_commit cascade');
  await expectTwoFree();
});

it('a transaction whose last write is refused with its COMMIT keeps its connection', async () => {
  const save = stores.transaction(({ idempotency }) =>
    idempotency.save({
      principalId: 'one',
      key: 'key',
      field: 'a',
      fingerprint: '',
      result: { tooLong: 'x'.repeat(20_000) },
      createdAt: new Date(),
    }),
  );
  const { total } = database.poolFigures();
  await expect(save).rejects.toMatchObject({ code: '23514' });
  expect(database.poolFigures().total).toBe(total);
  await expectTwoFree();
});

it('a pool whose connections are not given back is not ready', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const transactions = [stores.transaction(() => held), stores.transaction(() => held)];
  const reason = async (): Promise<string | undefined> => (await database.checkReady(testCaller)).database;
  expect(await reason()).toBeUndefined();
  await until(async () => (await reason()) === 'No connection to the database has become free for a long time.');
  release();
  await Promise.all(transactions);
  expect(await reason()).toBeUndefined();
});

it('after five seconds without a server writes succeed within two seconds of its return', async () => {
  const service = await listenHere({ DATABASE_URL: cluster.url, DATABASE_POOL: '4' });
  let sent = 0;
  const write = () =>
    service
      .post('/categories', { name: 'Written' }, { 'idempotency-key': `key ${(sent += 1)}` })
      .then(({ status }) => status);
  expect(await write()).toBe(201);
  cluster.pause();
  const during = await Promise.all(Array.from({ length: 8 }, write));
  const ready = await service.get('/readyz');
  cluster.resume();
  // Then it is there for everybody.
  await cluster.sql('select');
  // Twice as long, for a busy machine.
  await until(async () => (await write()) === 201, { maxMillis: 4_000 });
  expect([new Set(during), ready.status]).toEqual([new Set([503]), 503]);
  expect(await Promise.all(Array.from({ length: 8 }, write))).toEqual(Array.from({ length: 8 }, () => 201));
});
