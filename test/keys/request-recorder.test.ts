import { mock } from 'node:test';

import { expect, it } from '@jest/globals';

import { unavailable } from '../../src/domain/errors.ts';
import type { Id } from '../../src/domain/id.ts';
import { RequestService } from '../../src/domain/requests/request.service.ts';
import type { RequestBatch, RequestStore } from '../../src/domain/requests/request.store.ts';
import { type Entry, RequestRecorder, type ServedRequest } from '../../src/keys/request-recorder.ts';
import { openTestDatabase } from '../support/opened-database.ts';

const { stores, sql } = await openTestDatabase();
let now = Date.parse('2026-11-28T12:30:00Z');
const requests = new RequestService({ requests: stores.requests, clock: { now: () => now } as never });

const served = (keyId: Id, request: Partial<ServedRequest> = {}): ServedRequest => ({
  keyId,
  status: 200,
  cost: 1,
  refusedBy: undefined,
  isWrite: false,
  deprecated: [],
  ...request,
});

function entry(keyId: Id, requestId = 'r'): Entry {
  const rest = { status: 200, cost: 1, durationMillis: 1, hasIdempotencyKey: false };
  return { keyId, requestId, protocol: 'rest', operation: 'listPets', ...rest };
}

/** A process, whose statements may be lost, or their answers. */
function startRecorder({
  keepsEntries = true,
  saves = (writer, batch) => stores.requests.save(writer, batch),
}: { readonly keepsEntries?: boolean; readonly saves?: RequestStore['save'] } = {}) {
  const batches: RequestBatch[] = [];
  const failures: unknown[] = [];
  const store: RequestStore = {
    ...stores.requests,
    save: (writer, batch) => {
      batches.push(batch);
      return saves(writer, batch);
    },
    trim: (keyIds, kept) => stores.requests.trim(keyIds, kept),
  };
  const recorder = new RequestRecorder({
    requests: store,
    keepsEntries,
    now: () => now,
    onFailure: (error) => failures.push(error),
  });
  const record = (keyId: Id, request?: Partial<ServedRequest>, requestId?: string): void =>
    recorder.record(served(keyId, request), () => entry(keyId, requestId));
  return { recorder, record, batches, failures };
}

async function countOf(keyId: Id): Promise<{ requests: number; omitted: number; entries: number }> {
  const [periods = []] = await requests.usagePerKey([keyId], { per: 'day', since: new Date(now).toISOString() });
  const { requests: count = 0, omitted = 0 } = periods[0] ?? {};
  const entries = await sql('select id from api_key_requests where key_id = $1', [keyId]);
  return { requests: count, omitted, entries: entries.length };
}

it('ten thousand refusals of a key write ten entries in a second, and leave those of another key', async () => {
  const { recorder, record, batches } = startRecorder();
  const [flood, other] = ['101', '102'] as [Id, Id];
  for (let n = 0; n < 10_000; n += 1) record(flood, { status: 429, cost: 0, refusedBy: 'minute' });
  record(other, { isWrite: true });
  record(other);
  record(other);
  await recorder.flush();
  expect(batches.map(({ entries }) => entries.length)).toEqual([12]);
  expect(await countOf(flood)).toEqual({ requests: 10_000, omitted: 9_990, entries: 10 });
  expect(await countOf(other)).toEqual({ requests: 3, omitted: 1, entries: 2 });
  await recorder.flush();
  expect(batches).toHaveLength(1);
});

it('what is refused for another reason than the quota has an entry of its own, ten in a second, too', async () => {
  const { recorder, record } = startRecorder();
  const [wrong, flood] = ['301', '302'] as [Id, Id];
  for (const status of [200, 400, 403, 404, 304]) record(wrong, { status });
  for (let n = 0; n < 100; n += 1) record(flood, { status: 404 });
  await recorder.flush();
  expect(await countOf(wrong)).toEqual({ requests: 5, omitted: 1, entries: 4 });
  expect(await countOf(flood)).toEqual({ requests: 100, omitted: 90, entries: 10 });
});

it('at most 200 entries are written in a second, and 1,000 wait for a lost database; counts lose nothing', async () => {
  let isLost = true;
  const saves: RequestStore['save'] = (writer, batch) =>
    isLost ? Promise.reject(unavailable(new Error('gone'))) : stores.requests.save(writer, batch);
  const { recorder, record, batches, failures } = startRecorder({ saves });
  const key = '103' as Id;
  for (let second = 0; second < 8; second += 1) {
    for (let n = 0; n < 300; n += 1) record(key, { isWrite: true });
    await recorder.flush();
    now += 1_000;
  }
  expect(failures).toHaveLength(1);
  isLost = false;
  const sent = batches.length;
  for (let second = 0; second < 8; second += 1) await recorder.flush();
  expect(batches.slice(sent).map(({ entries }) => entries.length)).toEqual([200, 0, 200, 200, 200, 200, 200]);
  expect(await countOf(key)).toEqual({ requests: 2_400, omitted: 1_200, entries: 1_200 });
});

it('a batch whose answer was lost counts once', async () => {
  let answers = 0;
  const saves: RequestStore['save'] = async (writer, batch) => {
    await stores.requests.save(writer, batch);
    if ((answers += 1) < 3) throw unavailable(new Error('the answer was lost'));
  };
  const { recorder, record } = startRecorder({ saves });
  const key = '104' as Id;
  record(key, { isWrite: true });
  await recorder.flush();
  record(key, { isWrite: true });
  await recorder.flush();
  await recorder.flush();
  expect(await countOf(key)).toEqual({ requests: 2, omitted: 0, entries: 2 });
});

it('hours and days are UTC, and processes add to them', async () => {
  const [one, other] = [startRecorder(), startRecorder()];
  const key = '105' as Id;
  now = Date.parse('2026-11-28T23:59:59.900Z');
  one.record(key);
  other.record(key, { status: 500 });
  now = Date.parse('2026-11-29T00:00:00.000Z');
  one.record(key, { status: 404 });
  await Promise.all([one.recorder.flush(), other.recorder.flush()]);
  now += 1_000;
  const [hours] = await requests.usagePerKey([key], { since: '2026-11-28T22:00:00Z' });
  expect(
    hours?.map((hour) => [
      hour.startsAt.toISOString().slice(8, 13),
      hour.requests,
      hour.clientErrors,
      hour.serverErrors,
    ]),
  ).toEqual([
    ['28T22', 0, 0, 0],
    ['28T23', 2, 0, 1],
    ['29T00', 1, 1, 0],
  ]);
  const [days] = await requests.usagePerKey([key], { per: 'day', since: '2026-11-28T00:00:00Z' });
  expect(days?.map((day) => day.requests)).toEqual([2, 1]);
});

it.each([3_600_000, -3_600_000, 6 * 86_400_000, -6 * 86_400_000])(
  'a clock that is set by %i ms, and back, loses nothing, counts nothing twice, and keeps the order of the entries',
  async (jump) => {
    const began = now;
    const { recorder, record } = startRecorder();
    const key = `${200 + jump / 3_600_000}` as Id;
    const deprecated = [{ coordinate: 'Pet.status', sunset: new Date('2027-06-01') }];
    for (const [requestId, at] of [
      ['before', began],
      ['meanwhile', began + jump],
      ['after', began + 1_000],
    ] as const) {
      now = at;
      record(key, { isWrite: true, deprecated }, requestId);
      record(key, { deprecated });
      record(key, { deprecated });
      await recorder.flush();
      await requests.deleteOld();
    }
    const since = new Date(began - Math.abs(jump)).toISOString();
    const until = new Date(began + Math.abs(jump) + 3_600_000).toISOString();
    for (const per of ['hour', 'day'] as const) {
      const [periods] = await requests.usagePerKey([key], { per, since, until });
      expect(periods?.reduce((sum, period) => sum + period.requests, 0)).toBe(9);
    }
    const [uses] = await requests.deprecatedUsesPerKey([key]);
    expect(uses).toMatchObject([{ coordinate: 'Pet.status', count: 9 }]);
    const [page] = await requests.entries.listPerParent([key], {});
    const writes = page?.rows.map(({ requestId }) => requestId).filter((id) => id !== 'r');
    expect(writes).toEqual(['after', 'meanwhile', 'before']);
  },
);

it('a key keeps its newest 1,000 entries, and what is old goes', async () => {
  const key = '106' as Id;
  await sql(
    `insert into api_key_requests (key_id, at, request_id, protocol, operation, status, cost, duration_millis, has_idempotency_key)
     select 106, $1::timestamptz, n, 'rest', 'x', 200, 1, 1, false from generate_series(1, 1100) as n`,
    [new Date(now)],
  );
  mock.timers.enable({ apis: ['setInterval'] });
  const { recorder, record } = startRecorder();
  recorder.start();
  record(key, { isWrite: true });
  await recorder.flush();
  mock.timers.tick(60_000);
  mock.timers.reset();
  await recorder.stop();
  expect((await countOf(key)).entries).toBe(1_000);
  now += 8 * 86_400_000;
  await requests.deleteOld();
  expect((await countOf(key)).entries).toBe(0);
});

it('without entries the counts stay', async () => {
  const { recorder, record } = startRecorder({ keepsEntries: false });
  const key = '107' as Id;
  record(key, { status: 429, refusedBy: 'day', cost: 0 });
  await recorder.flush();
  expect(await countOf(key)).toEqual({ requests: 1, omitted: 1, entries: 0 });
});
