import { expect, it } from '@jest/globals';

import { ProbeRate } from '../../../src/platform/http/probe-rate.ts';

it('counts the probes of each address in a second, and begins anew in the next one', () => {
  const rate = new ProbeRate(2);
  expect([1, 2, 3].map(() => rate.take('a', 10))).toEqual([true, true, false]);
  expect([rate.take('b', 1_009), rate.take('a', 1_009)]).toEqual([true, false]);
  expect(rate.take('a', 1_010)).toBe(true);
});

it('remembers 10,000 addresses at most: in this second the probes of others wait with everything else', () => {
  const rate = new ProbeRate(2);
  for (let index = 0; index < 10_000; index += 1) expect(rate.take(`address ${index}`, 0)).toBe(true);
  expect([rate.take('another', 1), rate.take('address 0', 1), rate.take('another', 1_000)]).toEqual([
    false,
    true,
    true,
  ]);
});
