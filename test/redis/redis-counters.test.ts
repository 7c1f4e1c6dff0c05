import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { MemoryCounterStore } from '../../src/platform/quotas/memory-counter-store.ts';
import { connectRedisCounters } from '../../src/platform/quotas/redis-counters.ts';
import { decisionOf } from '../../src/platform/quotas/counter.ts';
import { edges, QuotaModel, scenarios } from '../platform/quotas/quota-model.ts';
import { addressOf, one } from '../platform/quotas/quota-subjects.ts';
import { Counting, newKey, optionsFor } from './counting.ts';
import { RedisServer } from './redis-server.ts';

const nothingKnown = { minute: { openedAt: 0, spent: 0 }, day: { openedAt: 0, spent: 0 }, bannedUntil: 0 };

const redis = await RedisServer.start();

describe('counters in Redis', () => {
  it('decide as those in memory do, whatever is asked when, and whatever clocks and operators do meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const model = new QuotaModel(scenario);
        const { rules } = scenario;
        const shared = await connectRedisCounters(optionsFor(redis.url, { rules, clock: model }), () => undefined);
        const memory = new MemoryCounterStore({ rules, now: () => model.now });
        const { id } = newKey();
        for (const step of scenario.steps) {
          if (step.kind === 'request') {
            const subject = model.subject(id);
            const decided = await shared.decide(subject, step, nothingKnown);
            expect(decisionOf(decided, subject, step)).toEqual(memory.decide(subject, step));
            model.request(step);
          } else {
            model.apply(step);
          }
        }
        shared.close();
      }),
      { numRuns: 300, examples: edges },
    );
  });

  it.each([
    ['a key', newKey(1_000, 100_000), 1_000],
    ['an address', addressOf('192.0.2.1'), 60],
  ])('admit exactly the requests that %s has, of three processes at once', async (_, subject, expected) => {
    const processes = await Promise.all([1, 2, 3].map(() => Counting.open(redis.url)));
    const admitted = await Promise.all(processes.map((process) => process.admitted(700, subject)));
    expect(admitted.reduce((sum, each) => sum + each)).toBe(expected);
    expect(processes.map(({ changes }) => changes)).toEqual([[], [], []]);
  });

  it('go on when Redis forgets the script', async () => {
    const key = newKey();
    const counting = await Counting.open(redis.url);
    expect(await counting.admitted(20, key)).toBe(20);
    await redis.command('SCRIPT', 'FLUSH');
    expect(await counting.admitted(60, key)).toBe(40);
    expect(counting.changes).toEqual([]);
  });

  it('leave nothing in Redis for longer than a day and a minute', async () => {
    const clock = { now: 1_800_000_000_000 };
    const counting = await Counting.open(redis.url, { rules: { banAfter: 1, banForSeconds: 60 }, clock });
    await counting.outcomes(newKey(1), clock, [0, 0, 2_001, 1, 1]);
    const bans = { epoch: 1, bannedUntil: 0, automaticBans: [] };
    await counting.store.decide({ ...newKey(), bans }, { needs: 0, spends: 0 });
    const keys = (await redis.command('KEYS', '*')) as string[];
    expect(keys.length).toBeGreaterThan(0);
    for (const name of keys) {
      const ttl = Number(await redis.command('PTTL', name));
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(86_460_000);
    }
  });

  it('hold a ban for every process of an installation at once, and for no other one', async () => {
    const clock = { now: 1_800_000_000_000 };
    const rules = { banAfter: 2, banForSeconds: 900 };
    const [first, second] = await Counting.openTwo(redis.url, { rules, clock });
    const key = newKey(1);
    const outcomes = await first.outcomes(key, clock, [0, 0, 2_001, 0, 0]);
    expect(outcomes).toEqual(['admitted', 'refused', 'refused', 'refused', 'banned']);
    expect(await second.store.decide(key, one)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
    const other = await Counting.open(redis.url, { rules, clock, id: 'another' });
    expect((await other.store.decide(key, one)).outcome).toBe('admitted');
  });

  it('of addresses without a key are at most 100,000, that expire', async () => {
    await redis.command('FLUSHALL');
    const { store } = await Counting.open(redis.url);
    const subjects = Array.from({ length: 2_000 }, (_, n) =>
      addressOf(`2001:db8:${n.toString(16)}:${(n * 7919).toString(16)}::/64`),
    );
    await Promise.all(subjects.map((subject) => store.decide(subject, one)));
    const names = ((await redis.command('KEYS', '*address*')) as string[]).toSorted();
    expect(names.length).toBeGreaterThan(1_900);
    for (const name of names) expect(name).toMatch(/^petstore:quota:one:\{address:\d{1,5}\}$/);
    expect(Number(await redis.command('PTTL', names[0]!))).toBeLessThanOrEqual(86_460_000);
  });

  it('hold a ban to the end of the year 9999', async () => {
    const [now, bannedUntil] = [Date.parse('2027-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];
    const { store } = await Counting.open(redis.url, { clock: { now } });
    const key = { ...newKey(), bans: { epoch: 1, bannedUntil, automaticBans: [] } };
    const retryAfterSeconds = Math.ceil((bannedUntil - now) / 1000);
    expect(await store.decide(key, one)).toMatchObject({ outcome: 'banned', retryAfterSeconds });
  });
});

describe('when Redis is emptied, counting', () => {
  it('goes on in each process from what it knows, and returns with that: nothing more is admitted', async () => {
    const key = newKey(1_000, 100_000);
    const [first, second] = await Counting.openTwo(redis.url);
    expect((await first.admitted(350, key)) + (await second.admitted(350, key))).toBe(700);

    await redis.command('FLUSHALL');
    const alone = [await first.admitted(1_000, key), await second.admitted(1_000, key)];
    // What the first knew is what it had when the second hadn't begun.
    expect(alone).toEqual([650, 300]);
    expect([first.changes, second.changes]).toEqual([[false], [false]]);

    await Promise.all([first.shared(true), second.shared(true)]);
    expect((await first.admitted(1_000, key)) + (await second.admitted(1_000, key))).toBe(0);
    const other = await Counting.open(redis.url);
    expect(await other.admitted(10, key)).toBe(0);
  });

  it('in the middle of requests, admits at most once more for each process, in the minute and in the day', async () => {
    for (const key of [newKey(1_000, 100_000), newKey(100_000, 1_000)]) {
      const processes = await Counting.openTwo(redis.url);
      let admitted = 0;
      const flood = async (process: Counting): Promise<void> => {
        for (let burst = 0; burst < 12; burst += 1) {
          const more = await process.admitted(250, key);
          admitted += more;
        }
      };
      const floods = processes.map(flood);
      await redis.command('FLUSHALL');
      await Promise.all(floods);
      expect(admitted).toBeGreaterThanOrEqual(1_000);
      expect(admitted).toBeLessThanOrEqual(3_000);
      await Promise.all(processes.map((process) => process.shared(true)));
      for (const process of processes) expect(await process.admitted(10, key)).toBe(0);
    }
  });

  it('adds what a process that knew nothing has admitted meanwhile to what was known before', async () => {
    const key = newKey(1_000, 100_000);
    const [knowing, other] = await Counting.openTwo(redis.url);
    expect(await knowing.admitted(600, key)).toBe(600);
    await redis.command('FLUSHALL');
    await other.admitted(1, newKey());
    await other.shared(true);
    expect(await other.admitted(300, key)).toBe(300);
    await knowing.admitted(1, newKey());
    await knowing.shared(true);
    expect(await knowing.admitted(1_000, key)).toBe(100);
    expect(await other.admitted(10, key)).toBe(0);
  });
});

describe('when Redis is lost, counting', () => {
  it('goes on in the process from what it knows, says so once, and returns with that to a new and empty Redis', async () => {
    const key = newKey();
    const counting = await Counting.open(redis.url);
    expect(await counting.admitted(50, key)).toBe(50);

    await redis.kill();
    expect(await counting.admitted(30, key)).toBe(10);
    expect(counting.changes).toEqual([false]);

    await redis.restart();
    await counting.shared(true);
    expect(await counting.admitted(30, key)).toBe(0);
    expect(counting.changes).toEqual([false, true]);
    // The others learn it as well, once this process has asked.
    const other = await Counting.open(redis.url);
    expect(await other.admitted(1, key)).toBe(0);
  });

  it('keeps the bans that it knows', async () => {
    const clock = { now: 1_800_000_000_000 };
    const counting = await Counting.open(redis.url, { rules: { banAfter: 1, banForSeconds: 900 }, clock });
    const key = newKey(1);
    await counting.outcomes(key, clock, [0, 0, 2_001, 1]);
    await redis.kill();
    expect(await counting.store.decide(key, one)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
    await redis.restart();
    await counting.shared(true);
    expect(await counting.store.decide(key, one)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
  });

  it('waits for a paused Redis once, a moment, and returns to it by itself', async () => {
    const key = newKey();
    const counting = await Counting.open(redis.url);
    expect(await counting.admitted(10, key)).toBe(10);

    redis.pause();
    const startedAt = performance.now();
    expect(await counting.admitted(20, key)).toBe(20);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    const brokenAt = performance.now();
    for (let request = 0; request < 20; request += 1) await counting.store.decide(key, one);
    // Each would wait for half a second.
    expect(performance.now() - brokenAt).toBeLessThan(5_000);
    expect(counting.changes).toEqual([false]);

    redis.resume();
    await counting.shared(true);
    expect(await counting.admitted(60, key)).toBeLessThanOrEqual(10);
    const other = await Counting.open(redis.url);
    expect(await other.admitted(1, key)).toBe(0);
  });

  it('begins without it, and finds it later', async () => {
    await redis.kill();
    const counting = await Counting.open(redis.url);
    const key = newKey();
    expect(await counting.admitted(70, key)).toBe(60);
    expect(counting.changes).toEqual([false]);
    await redis.restart();
    await counting.shared(true);
    expect(await counting.admitted(1, key)).toBe(0);
  });
});
