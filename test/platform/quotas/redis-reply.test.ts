import { expect, it } from '@jest/globals';

import { counterDecisionOf } from '../../../src/platform/quotas/redis-counters.ts';

const now = 1_764_000_000_000;

it('a reply of the script is a decision', () => {
  expect(counterDecisionOf([0, now, now, 3, now, 4, 0, 2])).toEqual({
    outcome: 'admitted',
    now,
    minute: { openedAt: now, spent: 3 },
    day: { openedAt: now, spent: 4 },
    bannedUntil: 0,
    banEpoch: 2,
    isBanNew: false,
  });
});

it.each([
  ['nothing', null],
  ['a text', 'OK'],
  ['a number', 42],
  ['an empty list', []],
  ['nulls', Array.from({ length: 8 }, () => null)],
  ['texts', ['0', String(now), '0', '0', '0', '0', '0', '0']],
  ['lists', Array.from({ length: 8 }, () => [1])],
  ['fractions', [0, now + 0.5, 0, 0, 0, 0, 0, 0]],
  ['a figure too few', [0, now, 0, 0, 0, 0, 0]],
  ['an outcome that there is not', [9, now, 0, 0, 0, 0, 0, 0]],
  ['a negative figure', [0, now, 0, -1, 0, 0, 0, 0]],
  ['an emptied Redis', [-1]],
])('%s is none, and counts as a lost Redis', (_name, reply) => {
  expect(() => counterDecisionOf(reply)).toThrow(/^Redis has/);
});
