import { mock } from 'node:test';

import { beforeEach, expect, it } from '@jest/globals';

import { databaseAt } from '../../../src/settings/database-url.ts';
import { connectDatabase } from '../../../src/database/database.ts';
import { migrate } from '../../../src/database/start/migrate.ts';
import type { Id } from '../../../src/domain/id.ts';
import type { PetFilter } from '../../../src/domain/pets/pet.store.ts';
import { createConnections, type Parameter, statementOf } from '../../../src/platform/postgres/index.ts';
import { atEnd } from '../../support/at-end.ts';
import { firstRows } from '../../support/keyset.ts';
import { listenBefore } from '../../support/listen.ts';
import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { until } from '../../support/until.ts';
import { callers } from '../../support/caller.ts';

/** How many reads of one client wait for a response on each connection. */
const share = 8;

const cluster = await startCluster();
const statements: string[] = [];
await migrate({ location: cluster.url });
/** One connection for short reads, and one for others. */
const database = await connectDatabase({
  location: cluster.url,
  poolSize: 2,
  onStatement: (sql) => statements.push(sql),
});
atEnd(async () => {
  cluster.resume();
  await database.close();
});

beforeEach(async () => {
  await page('a', 1);
  statements.length = 0;
});

/** A read like no other of its client. */
function page(client: string, limit: number, filter: PetFilter = {}, { stores } = database): Promise<unknown> {
  return stores.for(callers.for(client)).pets.page(filter, firstRows(limit));
}

const endOfTick = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it('of the short reads of one client a few are sent, and the others after them, so that another client waits for few', async () => {
  const done: string[] = [];
  const read = (client: string, count: number) =>
    Array.from({ length: count }, (_, n) => page(client, n + 1).then(() => done.push(client)));
  cluster.pause();
  const all = [...read('many', 40), ...read('one', 1)];
  await endOfTick();
  expect(statements).toHaveLength(share + 1);
  cluster.resume();
  await Promise.all(all);
  expect(statements).toHaveLength(41);
  expect(done.indexOf('one')).toBe(share);
});

/** From now on until the end of the test no time passes, but what the test lets pass. */
function stopClock(): { pass(millis: number): void } {
  let now = performance.now();
  const clock = mock.method(performance, 'now', () => now);
  atEnd(() => clock.mock.restore());
  return { pass: (millis) => void (now += millis) };
}

it('of a client whose reads take long fewer are sent, and as many as before when they are fast again', async () => {
  const clock = stopClock();
  cluster.pause();
  const slow = page('slow', 1);
  await endOfTick();
  clock.pass(500);
  cluster.resume();
  await slow;
  const sentAtOnce = async (): Promise<number> => {
    statements.length = 0;
    cluster.pause();
    const all = Array.from({ length: 2 * share }, (_, n) => page('slow', n + 1));
    await endOfTick();
    const { length } = statements;
    cluster.resume();
    await Promise.all(all);
    return length;
  };
  expect(await sentAtOnce()).toBe(1);
  await until(async () => {
    await page('slow', 1);
    return (await sentAtOnce()) === share;
  });
});

it('the way to a server far away is no time of its reads', async () => {
  const clock = stopClock();
  const port = await listenBefore(cluster.port, (client, server) => {
    client.on('data', () => clock.pass(20)).pipe(server);
    server.on('data', () => clock.pass(20)).pipe(client);
  });
  const location = new URL(cluster.url);
  location.port = String(port);
  let sent = 0;
  const far = await connectDatabase({ location: location.href, poolSize: 2, onStatement: () => void (sent += 1) });
  atEnd(() => far.close());
  for (let limit = 1; limit <= share; limit += 1) await page('far', limit, {}, far);
  sent = 0;
  const all = Array.from({ length: 2 * share }, (_, n) => page('far', n + 1, {}, far));
  await endOfTick();
  expect(sent).toBe(share);
  await Promise.all(all);
});

it('short reads that wait for too long are refused, and those of a client that has disconnected are not sent', async () => {
  cluster.pause();
  const gone = callers.for('gone');
  const { pets } = database.stores.for(gone);
  const reads = [
    ...Array.from({ length: 2 * share }, (_, n) => page('patient', n + 1)),
    ...Array.from({ length: 2 * share }, (_, n) => pets.page({}, firstRows(n + 1))),
  ];
  const outcomes = Promise.allSettled(reads);
  await endOfTick();
  gone.abort(new Error('The client has disconnected.'));
  const began = performance.now();
  const codes = (await outcomes).map((outcome) => outcome.status === 'rejected' && (outcome.reason as Error).message);
  cluster.resume();
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(new Set(codes.slice(0, 2 * share))).not.toContain(false);
  expect(new Set(codes.slice(2 * share))).toEqual(new Set(['The client has disconnected.']));
  expect(statements).toHaveLength(2 * share);
});

it("a read that can't be sent fails alone, not those of its tick or the process", async () => {
  const { pipeline, pool } = createConnections({ ...databaseAt(cluster.url), poolSize: 2 });
  const same = statementOf('select $1::text', 1, ([text]) => text);
  const read = (value: Parameter): Promise<unknown> => pipeline!.run(callers.for('a'), same, [value]);
  const outcomes = await Promise.allSettled([read('one'), read({} as never), read('two')]);
  expect(outcomes).toMatchObject([{ value: ['one'] }, { reason: expect.any(TypeError) }, { value: ['two'] }]);
  await Promise.all([pipeline!.close(), pool.end()]);
});

it('reads that wait for a lock fail no read of another table, and go on when the lock is free', async () => {
  const own = await connectDatabase({ location: cluster.url, poolSize: 2 });
  const holder = await connect(cluster.url);
  atEnd(() => Promise.all([own.close(), holder.end()]));
  const storesOf = (client: string) => own.stores.for(callers.for(client));
  await holder.query('begin; lock table pets in access exclusive mode');
  const locked = Promise.all([
    ...Array.from({ length: share }, (_, n) => page('a', n + 1, {}, own)),
    storesOf('a').pets.byIds(['1' as Id, '2' as Id]),
  ]);
  const ids: readonly Id[] = ['1' as Id, '2' as Id];
  expect(await Promise.all(ids.map((id) => storesOf('b').categories.byIds([id])))).toHaveLength(2);
  // None of them is left in the pipeline.
  await until(() => own.poolFigures().waiting === share);
  await holder.query('rollback');
  expect(await locked).toHaveLength(share + 1);
});

it('a prepared statement that is gone is prepared again, also where reads of it have met a lock before', async () => {
  const { pipeline, pool } = createConnections({ ...databaseAt(cluster.url), poolSize: 2 });
  const holder = await connect(cluster.url);
  const [count, forget] = [
    statementOf('select count(*) from pets', 1, ([text]) => text),
    statementOf('deallocate all', 0, () => undefined),
  ];
  const read = (statement: typeof count | typeof forget = count): Promise<unknown> =>
    pipeline!.run(callers.for('a'), statement, []);
  await holder.query('begin; lock table pets in access exclusive mode');
  const locked = await Promise.allSettled([read(), read(), read()]);
  expect(locked).toEqual(
    locked.map(() => ({ status: 'rejected', reason: expect.objectContaining({ reason: 'locked' }) })),
  );
  await holder.query('rollback');
  const counted = await read();
  await read(forget);
  expect(await Promise.all([read(), read()])).toEqual([counted, counted]);
  await Promise.all([pipeline!.close(), pool.end(), holder.end()]);
});

it('what walks an index more than 200 times has a connection of its own', async () => {
  const anyOf = (count: number): Promise<unknown> =>
    page('a', 1, { categoryIdIn: Array.from({ length: count }, (_, n) => String(n + 1) as Id) });
  await anyOf(200);
  expect(database.poolFigures().total).toBe(0);
  await anyOf(201);
  expect(database.poolFigures().total).toBe(1);
});
