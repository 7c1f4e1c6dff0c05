import { beforeEach, expect, it } from '@jest/globals';

import { keyOf, one } from '../platform/quotas/quota-subjects.ts';
import { Counting } from './counting.ts';
import { RedisServer } from './redis-server.ts';

const redis = await RedisServer.start();
const key = keyOf('1');

const previousSpent = async (): Promise<number> => Number(await redis.command('HGET', 'petstore:quota:{1}', 'ms'));
const remaining = async ({ store }: Counting): Promise<number> => (await store.decide(key, one)).minute.remaining;
const open = (id: string) => Counting.open(redis.url, { id });
/** One that was updated from the previous version, whose keys hold no id, less than a day ago. */
const openUpdated = (id: string) => Counting.open(redis.url, { id, previousNamesUntil: Date.now() + 100_000 });

beforeEach(async () => {
  await redis.command('FLUSHALL');
  const window = [String(Date.now()), '20', '0'];
  const fields = ['mo', 'ms', 'mr', 'do', 'ds', 'dr'].flatMap((name, index) => [name, window[index % 3]!]);
  await redis.command('HSET', 'petstore:quota:{1}', ...fields);
});

it('for a day after an update the first installation counts with the previous version, others by themselves', async () => {
  const [fresh, first] = [await open('fresh'), await openUpdated('first')];
  const other = await openUpdated('other');
  expect(await remaining(first)).toBe(39);
  expect(await remaining(await openUpdated('first'))).toBe(38);
  expect(await remaining(other)).toBe(59);
  expect(await remaining(fresh)).toBe(59);
  expect(await previousSpent()).toBe(22);
});

it('after that day it goes on with what it knows, under keys of its own', async () => {
  const updated = await openUpdated('first');
  expect(await remaining(updated)).toBe(39);
  const left = Number(await redis.command('PTTL', 'petstore:quota:claim'));
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(100_000);
  // As it expires.
  await redis.command('DEL', 'petstore:quota:claim');
  const late = await open('first');
  expect(await remaining(late)).toBe(59);
  expect(await remaining(updated)).toBe(38);
  await updated.shared(true);
  // What both have counted: 22 and 1, and this request.
  expect(await remaining(updated)).toBe(36);
  expect(await previousSpent()).toBe(21);
  expect(await remaining(await openUpdated('first'))).toBe(35);
});
