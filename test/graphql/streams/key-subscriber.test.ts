import { expect, it } from '@jest/globals';

import type { Principal } from '../../../src/domain/access/principal.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { KeySubscriber, type KeyChecks } from '../../../src/graphql/streams/key-subscriber.ts';

it('a ban that only the counters know ends the streams of a key within a second', async () => {
  const principal = { id: '1', scopes: ['read'] } as unknown as Principal;
  const checks = {
    keys: { find: () => Promise.resolve(principal) },
    quota: { peek: () => Promise.resolve({ outcome: 'banned', retryAfterSeconds: 60 }) },
    now: Date.now,
  } as unknown as KeyChecks;
  const subscriber = new KeySubscriber(checks, 'secret', principal);
  const ends: unknown[] = [];
  // There are five checks a second.
  while (ends.length < 4) ends.push(await subscriber.findEnd());
  expect(ends.findLast((end) => end !== undefined)).toMatchObject({ code: 'KEY_BANNED' });
});

it('what a key can not be checked for is reported, unless the database is lost', async () => {
  const failures: unknown[] = [];
  const check = async (failure: Error): Promise<void> => {
    const fail = (): Promise<never> => Promise.reject(failure);
    const checks = { keys: { find: fail }, quota: { peek: fail }, onFailure: (error: unknown) => failures.push(error) };
    const subscriber = new KeySubscriber(checks as unknown as KeyChecks, 'secret', {
      id: '1',
      scopes: ['read'],
    } as unknown as Principal);
    expect(await subscriber.findEnd()).toBeUndefined();
    expect(await subscriber.charge(1)).toEqual({ spent: 0 });
  };
  await check(new DomainError('UNAVAILABLE', 'gone'));
  expect(failures).toEqual([]);
  const fault = new TypeError('a fault');
  await check(fault);
  expect(failures).toEqual([fault, fault]);
});

it.each([
  [3, 10, 10, { spent: 3 }],
  [3, 1, 10, { spent: 1 }],
  [3, 0, 10, { spent: 0 }],
  [3, 10, 2, { spent: 2, end: { code: 'RATE_LIMITED' } }],
  [3, 1, 2, { spent: 1 }],
  [3, 1, 1, { spent: 1, end: { code: 'RATE_LIMITED' } }],
])('of %s units with %s left of the minute and %s of the day it pays what it can', async (units, minute, day, paid) => {
  const principal = { id: '1', scopes: ['read'] } as unknown as Principal;
  const costs: number[] = [];
  const checks = {
    quota: {
      peek: () => Promise.resolve({ now: 0, minute: { remaining: minute }, day: { remaining: day, resetsAt: 0 } }),
      consume: (_subject: Principal, cost: number) => {
        costs.push(cost);
        return Promise.resolve({ outcome: 'admitted' });
      },
    },
  } as unknown as KeyChecks;
  const result = await new KeySubscriber(checks, 'secret', principal).charge(units);
  expect(result).toMatchObject(paid);
  expect([result.end === undefined, costs]).toEqual([!('end' in paid), paid.spent === 0 ? [] : [paid.spent]]);
});
