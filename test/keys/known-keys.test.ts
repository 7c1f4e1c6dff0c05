import { expect, it } from '@jest/globals';

import { AccessService } from '../../src/domain/access/access.service.ts';
import { serviceItself } from '../../src/domain/access/principal.ts';
import type { KeyRecords } from '../../src/domain/access/key-records.ts';
import type { Id } from '../../src/domain/id.ts';
import { KeyDirectory } from '../../src/keys/key-directory.ts';
import { RequestRecorder } from '../../src/keys/request-recorder.ts';
import { MemoryCounterStore } from '../../src/platform/quotas/memory-counter-store.ts';
import { UsageRecorder } from '../../src/platform/quotas/usage-recorder.ts';
import { testCaller } from '../support/caller.ts';
import { openTestDatabase } from '../support/opened-database.ts';

const known = 50;
const coordinate = { coordinate: 'Pet.status', sunset: new Date('2027-06-01') };

const { database, stores } = await openTestDatabase();
const access = new AccessService(stores, serviceItself);
let now = 1_800_000_000_000;

it('what a process does each second is about the keys that were used since, not about all that it knows', async () => {
  const records = database.keyRecords(testCaller);
  const seen: Record<'found' | 'asked' | 'usages' | 'hours' | 'uses', number>[] = [];
  let current = { found: 0, asked: 0, usages: 0, hours: 0, uses: 0 };
  const counted: KeyRecords = {
    read: async (hashes, since) => {
      const news = await records.read(hashes, since);
      current.found += news.keys.length;
      return news;
    },
    readByIds: (ids) => {
      current.asked += ids.length;
      return records.readByIds(ids);
    },
  };
  const directory = new KeyDirectory(counted, { now: () => now });
  const counters = new MemoryCounterStore({ rules: { banAfter: 0, banForSeconds: 1 }, now: () => now });
  const usage = new UsageRecorder({
    store: counters,
    table: { loadDays: async () => [], save: async (usages) => void (current.usages += usages.length) },
    onFailure: () => undefined,
    now: () => now,
  });
  const recorder = new RequestRecorder({
    requests: {
      save: async (_writer: string, { hours, uses }: { readonly hours: unknown[]; readonly uses: unknown[] }) => {
        current.hours += hours.length;
        current.uses += uses.length;
      },
    } as never,
    keepsEntries: false,
    now: () => now,
    onFailure: () => undefined,
  });
  const secrets = await Promise.all(
    Array.from({ length: known }, async () => (await access.create({ name: 'Known', plan: 'pro' })).secret),
  );
  for (const active of [secrets, secrets.slice(0, 10), []]) {
    for (const secret of active) {
      const principal = (await directory.find(secret))!;
      counters.decide(principal, { needs: 1, spends: 1 });
      const served = { keyId: principal.id as Id, status: 200, cost: 1, refusedBy: undefined, isWrite: false };
      recorder.record({ ...served, deprecated: [coordinate] }, () => ({}) as never);
    }
    now += 1_000;
    await directory.catchUp();
    await usage.flush();
    await recorder.flush();
    seen.push(current);
    current = { found: 0, asked: 0, usages: 0, hours: 0, uses: 0 };
  }
  expect(seen).toEqual([
    { found: known, asked: 0, usages: known, hours: known, uses: known },
    { found: 0, asked: 0, usages: 10, hours: 10, uses: 10 },
    { found: 0, asked: 0, usages: 0, hours: 0, uses: 0 },
  ]);
});
