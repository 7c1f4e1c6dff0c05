import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { FallbackCounterStore } from '../../src/platform/quotas/fallback-counter-store.ts';
import { connectRedisCounters } from '../../src/platform/quotas/redis-counters.ts';
import type { QuotaSubject } from '../../src/platform/quotas/counter-store.ts';
import { atEnd } from '../support/at-end.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { RedisServer } from './redis-server.ts';

const redis = await RedisServer.start();

describe('two databases on one Redis', () => {
  let installations: TestApp[];

  beforeAll(async () => {
    const settings = { REDIS_URL: redis.url, BAN_AFTER: '2' };
    // Migrated by itself: the databases of other suites are copies of one.
    const fresh = { DATABASE_URL: '', DATA_DIR: temporaryDirectory(), DEMO: 'off' };
    installations = await Promise.all([startTestApp(settings), startTestApp({ ...settings, ...fresh })]);
  });

  it('count the keys and addresses of the same ids apart', async () => {
    const [first, second] = installations as [TestApp, TestApp];
    const keys = [await first.createKey({ plan: 'free' }), await second.createKey({ plan: 'free' })] as const;
    expect(keys[0].id).toBe(keys[1].id);
    const remaining = async (installation: TestApp, authorization: Record<string, string>): Promise<string> => {
      const { headers } = await installation.app.server.inject({ url: '/pets', headers: authorization });
      return String(headers['x-ratelimit-remaining']);
    };
    const bearer = (n: 0 | 1) => ({ authorization: `Bearer ${keys[n].secret}` });
    for (let spent = 1; spent <= 60; spent += 1) {
      expect(await remaining(first, bearer(0))).toBe(String(60 - spent));
    }
    expect((await first.app.server.inject({ url: '/pets', headers: bearer(0) })).statusCode).toBe(429);
    expect(await remaining(second, bearer(1))).toBe('59');
    expect(await remaining(first, {})).toBe('59');
    expect(await remaining(second, {})).toBe('59');
  });
});

const one = { needs: 1, spends: 1 };
const limits = { requestsPerMinute: 60, requestsPerDay: 1_000 };
const bans = { epoch: 0, bannedUntil: 0, automaticBans: [] };
const key: QuotaSubject = { id: '1', limits, bans, isAnonymous: false };
const rules = { banAfter: 1, banForSeconds: 900 };

async function open(id: string, now?: () => number, previousNamesUntil = 0): Promise<FallbackCounterStore> {
  const installation = { id, prefix: 'petstore:quota', previousNamesUntil };
  const store = await FallbackCounterStore.open({
    databaseNow: Date.now,
    connect: (onError) =>
      connectRedisCounters({ url: redis.url, installation, rules, now, databaseNow: Date.now }, onError),
    rules,
    now,
    onSharedChange: () => undefined,
  });
  atEnd(() => store.close());
  return store;
}

it('a ban of one installation bans no key of the other', async () => {
  await redis.command('FLUSHALL');
  let now = 1_800_000_000_000;
  const [first, second] = [await open('first', () => now), await open('second', () => now)];
  const small = { ...key, limits: { ...limits, requestsPerMinute: 1 } };
  const outcomes: string[] = [];
  for (const wait of [0, 0, 2_001, 0, 0]) {
    now += wait;
    outcomes.push((await first.decide(small, one)).outcome);
  }
  expect(outcomes).toEqual(['admitted', 'refused', 'refused', 'banned', 'banned']);
  expect((await second.decide(small, one)).outcome).toBe('admitted');
});

describe('for a day after an update from the previous version, whose keys hold no id', () => {
  const previousSpent = async (): Promise<number> => Number(await redis.command('HGET', 'petstore:quota:{1}', 'ms'));
  const remaining = async (store: FallbackCounterStore): Promise<number> =>
    (await store.decide(key, one)).minute.remaining;
  const openUpdated = (id: string) => open(id, undefined, Date.now() + 100_000);

  beforeEach(async () => {
    await redis.command('FLUSHALL');
    const now = String(Date.now());
    await redis.command(
      'HSET',
      'petstore:quota:{1}',
      'mo',
      now,
      'ms',
      '20',
      'mr',
      '0',
      'do',
      now,
      'ds',
      '20',
      'dr',
      '0',
    );
  });

  it('the first installation counts with that version, another one never, nor one that was never updated', async () => {
    const [fresh, first] = [await open('fresh'), await openUpdated('first')];
    const other = await openUpdated('other');
    expect(await remaining(first)).toBe(39);
    expect(await remaining(await openUpdated('first'))).toBe(38);
    expect(await remaining(other)).toBe(59);
    expect(await remaining(fresh)).toBe(59);
    expect(await previousSpent()).toBe(22);
  });

  it('and goes on after it with what it knows, under keys of its own', async () => {
    const store = await openUpdated('first');
    expect(await remaining(store)).toBe(39);
    const left = Number(await redis.command('PTTL', 'petstore:quota:claim'));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(100_000);
    // As it expires.
    await redis.command('DEL', 'petstore:quota:claim');
    const late = await open('first');
    expect(await remaining(late)).toBe(59);
    expect(await remaining(store)).toBe(38);
    await until(() => store.isShared);
    // What both have counted: 22 and 1, and this request.
    expect(await remaining(store)).toBe(36);
    expect(await previousSpent()).toBe(21);
    expect(await remaining(await openUpdated('first'))).toBe(35);
  });
});
