import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from '@redis/client';
import fc from 'fast-check';

import { MemoryCounterStore } from '../../src/counters/memory-counter-store.ts';
import { RedisCounterStore } from '../../src/counters/redis-counter-store.ts';
import type { BanRules } from '../../src/domain/quota/bans.ts';
import type { QuotaSubject } from '../../src/domain/quota/counter-store.ts';
import { edges, QuotaModel, scenarios } from '../domain/quota/quota-model.ts';
import { RedisServer } from './redis-server.ts';

const one = { needs: 1, spends: 1 };
const noBans: BanRules = { banAfter: 0, banForSeconds: 1 };

let redis: RedisServer;
let lastId = 0;
const stores: RedisCounterStore[] = [];

beforeAll(async () => {
  redis = await RedisServer.start();
});

afterEach(() => {
  for (const store of stores.splice(0)) store.close();
});

afterAll(() => redis.close());

/** The store of one process, with what it says of Redis' coming and going. */
class Counting {
  readonly store: RedisCounterStore;
  readonly #changes: boolean[];
  readonly #waiting: (() => void)[];

  private constructor(store: RedisCounterStore, changes: boolean[], waiting: (() => void)[]) {
    this.store = store;
    this.#changes = changes;
    this.#waiting = waiting;
  }

  static async open(rules = noBans, now?: () => number): Promise<Counting> {
    const changes: boolean[] = [];
    const waiting: (() => void)[] = [];
    const store = await RedisCounterStore.connect({
      url: redis.url,
      rules,
      now,
      local: new MemoryCounterStore({ rules, now }),
      onSharedChange: (isShared) => {
        changes.push(isShared);
        for (const wake of waiting.splice(0)) wake();
      },
    });
    stores.push(store);
    return new Counting(store, changes, waiting);
  }

  /** All that was said so far. */
  get changes(): readonly boolean[] {
    return [...this.#changes];
  }

  async shared(isShared: boolean): Promise<void> {
    while (this.store.isShared !== isShared) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** How many of so many requests at once are admitted. */
  async admitted(requests: number, subject: QuotaSubject): Promise<number> {
    const decisions = await Promise.all(Array.from({ length: requests }, () => this.store.decide(subject, one)));
    return decisions.filter(({ outcome }) => outcome === 'admitted').length;
  }
}

function newKey(requestsPerMinute = 60, requestsPerDay = 1_000): QuotaSubject {
  lastId += 1;
  const bans = { epoch: 0, bannedUntil: 0, automaticBans: [] };
  return { id: String(lastId), limits: { requestsPerMinute, requestsPerDay }, bans, isAnonymous: false };
}

describe('counters in Redis', () => {
  it('decide as those of one process do, whatever is asked when, and whatever an operator does meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const model = new QuotaModel(scenario);
        const { store } = await Counting.open(scenario.rules, () => model.now);
        const { id } = newKey();
        for (const step of scenario.steps) {
          if (step.kind === 'request') {
            const decision = await store.decide(model.subject(id), step);
            expect(decision).toEqual(model.request(step.needs, step.spends));
          } else {
            model.apply(step);
          }
        }
        store.close();
      }),
      { numRuns: 300, examples: edges },
    );
  });

  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ])('admit exactly what the plan %s has, over two connections at once', async (_, perMinute, perDay) => {
    const key = newKey(perMinute, perDay);
    const [first, second] = await Promise.all([Counting.open(), Counting.open()]);
    const requests = perMinute + 50;
    const admitted = await Promise.all([first.admitted(requests, key), second.admitted(requests, key)]);
    expect(admitted.reduce((sum, each) => sum + each)).toBe(perMinute);
  });

  it('admit exactly 1,000 requests of three processes together', async () => {
    const script = new URL('counting-process.ts', import.meta.url).pathname;
    const run = () => promisify(execFile)(process.execPath, [script, redis.url, '700']);
    const results = (await Promise.all([run(), run(), run()])).map(
      ({ stdout }) => JSON.parse(stdout) as { admitted: number; isShared: boolean },
    );
    expect(results.map(({ isShared }) => isShared)).toEqual([true, true, true]);
    expect(results.reduce((sum, { admitted }) => sum + admitted, 0)).toBe(1_000);
  });

  it('go on when Redis forgets the script', async () => {
    const key = newKey();
    const counting = await Counting.open();
    expect(await counting.admitted(20, key)).toBe(20);
    await command('SCRIPT', 'FLUSH');
    expect(await counting.admitted(60, key)).toBe(40);
    expect(counting.changes).toEqual([]);
  });

  it('leave nothing in Redis for longer than a day and a minute', async () => {
    let now = 1_800_000_000_000;
    const counting = await Counting.open({ banAfter: 1, banForSeconds: 60 }, () => now);
    const key = newKey(1);
    for (const wait of [0, 0, 2_001, 1, 1]) {
      now += wait;
      await counting.store.decide(key, one);
    }
    const bans = { epoch: 1, bannedUntil: 0, automaticBans: [] };
    await counting.store.decide({ ...newKey(), bans }, { needs: 0, spends: 0 });
    const keys = (await command('KEYS', '*')) as string[];
    expect(keys.length).toBeGreaterThan(0);
    for (const name of keys) {
      const ttl = Number(await command('PTTL', name));
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(86_460_000);
    }
  });

  it('hold a ban for every process at once', async () => {
    let now = 1_800_000_000_000;
    const rules = { banAfter: 2, banForSeconds: 900 };
    const [first, second] = await Promise.all([Counting.open(rules, () => now), Counting.open(rules, () => now)]);
    const key = newKey(1);
    const outcomes: string[] = [];
    for (const wait of [0, 0, 2_001, 0, 0]) {
      now += wait;
      outcomes.push((await first.store.decide(key, one)).outcome);
    }
    expect(outcomes).toEqual(['admitted', 'refused', 'refused', 'refused', 'banned']);
    expect(await second.store.decide(key, one)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
  });
});

describe('when Redis is gone, counting', () => {
  it('goes on in the process from what it knows, says so once, and returns with that to a new and empty Redis', async () => {
    const key = newKey();
    const counting = await Counting.open();
    expect(await counting.admitted(50, key)).toBe(50);

    await redis.kill();
    expect(await counting.admitted(30, key)).toBe(10);
    expect(counting.changes).toEqual([false]);

    await redis.restart();
    await counting.shared(true);
    expect(await counting.admitted(30, key)).toBe(0);
    expect(counting.changes).toEqual([false, true]);
    // The others learn it as well, once this process has asked.
    const other = await Counting.open();
    expect(await other.admitted(1, key)).toBe(0);
  });

  it('keeps the bans that it knows', async () => {
    let now = 1_800_000_000_000;
    const counting = await Counting.open({ banAfter: 1, banForSeconds: 900 }, () => now);
    const key = newKey(1);
    for (const wait of [0, 0, 2_001, 1]) {
      now += wait;
      await counting.store.decide(key, one);
    }
    await redis.kill();
    expect(await counting.store.decide(key, one)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
    await redis.restart();
    await counting.shared(true);
    expect(await counting.store.decide(key, one)).toMatchObject({ outcome: 'banned', retryAfterSeconds: 900 });
  });

  it('waits for a paused Redis once, a moment, and returns to it by itself', async () => {
    const key = newKey();
    const counting = await Counting.open();
    expect(await counting.admitted(10, key)).toBe(10);

    redis.pause();
    const startedAt = performance.now();
    expect(await counting.admitted(20, key)).toBe(20);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    const brokenAt = performance.now();
    for (let request = 0; request < 20; request += 1) await counting.store.decide(key, one);
    expect(performance.now() - brokenAt).toBeLessThan(200);
    expect(counting.changes).toEqual([false]);

    redis.resume();
    await counting.shared(true);
    expect(await counting.admitted(60, key)).toBeLessThanOrEqual(10);
    const other = await Counting.open();
    expect(await other.admitted(1, key)).toBe(0);
  });

  it('begins without it, and finds it later', async () => {
    await redis.kill();
    const counting = await Counting.open();
    const key = newKey();
    expect(await counting.admitted(70, key)).toBe(60);
    expect(counting.changes).toEqual([false]);
    await redis.restart();
    await counting.shared(true);
    expect(await counting.admitted(1, key)).toBe(0);
  });
});

async function command(...words: string[]): Promise<unknown> {
  const client = createClient({ url: redis.url });
  await client.connect();
  try {
    return await client.sendCommand(words);
  } finally {
    client.destroy();
  }
}
