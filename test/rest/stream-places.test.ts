import { expect, it } from '@jest/globals';

import { StreamPlaces } from '../../src/rest/stream-places.ts';

it('has places for each key and for the process, and each is given back and counted once', () => {
  let taken = 0;
  const places = new StreamPlaces({ perKey: 2, perProcess: 3, stallMillis: 1 }, (change) => (taken += change));
  const giveBack = places.take('a');
  places.take('a');
  expect(() => places.take('a')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', retryAfterSeconds: 5 }));
  places.take('b');
  expect(() => places.take('b')).toThrow(expect.objectContaining({ code: 'UNAVAILABLE', retryAfterSeconds: 5 }));
  expect(taken).toBe(3);
  giveBack();
  giveBack();
  expect(taken).toBe(2);
  places.take('c');
  expect(() => places.take('c')).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
});
