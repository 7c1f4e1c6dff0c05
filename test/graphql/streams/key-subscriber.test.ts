import { expect, it } from '@jest/globals';

import type { Principal } from '../../../src/domain/access/principal.ts';
import { KeySubscriber, type KeyChecks } from '../../../src/graphql/streams/key-subscriber.ts';

it('a ban that only the counters know ends the streams of a key within a second', async () => {
  const principal = { id: '1' } as unknown as Principal;
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

it.each([
  [3, 10, 10, { spent: 3 }],
  [3, 1, 10, { spent: 1 }],
  [3, 0, 10, { spent: 0 }],
  [3, 10, 2, { spent: 2, end: { code: 'RATE_LIMITED' } }],
  [3, 1, 2, { spent: 1 }],
  [3, 1, 1, { spent: 1, end: { code: 'RATE_LIMITED' } }],
])('of %s units with %s left of the minute and %s of the day it pays what it can', async (units, minute, day, paid) => {
  const principal = { id: '1' } as unknown as Principal;
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
