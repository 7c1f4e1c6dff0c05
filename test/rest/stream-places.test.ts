import { expect, it } from '@jest/globals';

import { StreamPlaces } from '../../src/rest/stream-places.ts';
import { startRestApp } from './rest-app.ts';

it('has places for each key and for the process, and each is given back and counted once', () => {
  let taken = 0;
  const refusals: string[] = [];
  const places = new StreamPlaces(
    { perKey: 2, perProcess: 3 },
    { onChange: (change) => (taken += change), onRefusal: (bound) => refusals.push(bound) },
  );
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
  expect(refusals).toEqual(['streams', 'streams', 'streams']);
});

it('refuses a whole collection beyond the places of the process with 503, and nothing else', async () => {
  const rest = await startRestApp({}, { streamLimits: { perProcess: 0 } });
  try {
    for (const url of ['/store/orders', '/categories', '/inventory']) {
      expect(await rest.ask('GET', url)).toMatchObject({
        status: 503,
        headers: { 'retry-after': '5', 'cache-control': 'no-store' },
        body: { code: 'unavailable', status: 503 },
      });
      expect((await rest.ask('GET', `${url}?limit=1`)).status).toBe(200);
      expect((await rest.ask('HEAD', url)).status).toBe(200);
      // What is wrong with the request comes first.
      expect((await rest.ask('GET', `${url}?cursor=forged`)).status).toBe(400);
    }
    expect((await rest.app.server.inject('/metrics')).body).toMatch('petstore_refusals_total{bound="streams"} 3\n');
  } finally {
    await rest.close();
  }
});
