import { expect, it } from '@jest/globals';

import { createCollectionSlots } from '../../src/rest/collection-slots.ts';
import { callers } from '../support/caller.ts';
import { startTestApp } from '../support/test-app.ts';

it('has slots for each key and for the process, each released and counted once', () => {
  const refusals: string[] = [];
  const onRefusal = (bound: string): unknown => refusals.push(bound);
  const slots = createCollectionSlots(callers.accounts, onRefusal, { perKey: 2, perProcess: 3 });
  const slot = slots.takeNow(callers.for('a'));
  slots.takeNow(callers.for('a'));
  expect(() => slots.takeNow(callers.for('a'))).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', retryAfterSeconds: 5 }),
  );
  slots.takeNow(callers.for('b'));
  expect(() => slots.takeNow(callers.for('b'))).toThrow(
    expect.objectContaining({ code: 'UNAVAILABLE', retryAfterSeconds: 5 }),
  );
  expect(slots.held).toBe(3);
  slot.release();
  slot.release();
  expect(slots.held).toBe(2);
  slots.takeNow(callers.for('c'));
  expect(() => slots.takeNow(callers.for('c'))).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
  expect(refusals).toEqual(['streams', 'streams', 'streams']);
});

it('refuses a whole collection beyond the slots of the process with 503, and nothing else', async () => {
  const rest = await startTestApp({}, { collectionLimits: { perProcess: 0 } });
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
});
