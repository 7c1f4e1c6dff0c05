import { expect, it } from '@jest/globals';

import type { Delivery } from '../../../src/platform/delivery/delivery.ts';
import { EndpointRun } from '../../../src/platform/delivery/endpoint-run.ts';
import type { DeliveryEvent, Endpoint } from '../../../src/platform/delivery/endpoint.ts';
import { outcomeOf } from '../../../src/platform/delivery/schedule.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);

const endpoint: Endpoint = {
  id: '1',
  fence: '1',
  maxInFlight: 4,
  position: '0',
  failures: 0,
  isHealthy: true,
  refusals: {},
};

const events = Array.from({ length: 8 }, (_, index): DeliveryEvent => {
  const id = String(index + 1);
  const about = { subject: id, at: new Date(start), isWanted: true, isReplay: false, bytes: 1, body: () => '' };
  return { id, position: id, ...about };
});

function runOf(given: Partial<Endpoint> = {}): EndpointRun<Endpoint> {
  const run = new EndpointRun({ ...endpoint, ...given });
  run.add(events);
  return run;
}

/** Begins as many as may be under way at that time. */
function begin(run: EndpointRun<Endpoint>, now: number): Delivery[] {
  const begun: Delivery[] = [];
  for (let next = run.next(now); next !== undefined; next = run.next(now)) {
    run.begin(next);
    begun.push(next);
  }
  return begun;
}

function finish(
  run: EndpointRun<Endpoint>,
  delivery: Delivery,
  status: number,
  now: number,
  retryAfter?: number,
): void {
  const result = { status, failure: undefined, cause: undefined, durationMillis: 5, retryAfterMillis: retryAfter };
  run.finish(delivery, outcomeOf(status), result, now);
}

/** One success, so that several are under way afterwards. */
function warm(run: EndpointRun<Endpoint>): void {
  for (const delivery of begin(run, start)) finish(run, delivery, 200, start);
}

it('Retry-After of a later parallel failure is respected', () => {
  const run = runOf();
  warm(run);
  const [first, second] = begin(run, start) as [Delivery, Delivery];
  finish(run, first, 503, start);
  finish(run, second, 503, start, hour);
  expect([begin(run, start + hour - 1).length, begin(run, start + hour).length]).toEqual([0, 1]);
  expect(run.takeProgress(true)).toMatchObject({
    failures: 1,
    failedAt: new Date(start),
    nextAttemptAt: new Date(start + hour),
  });
});

it.each([-6 * day, -hour, hour, 6 * day])(
  'a clock that jumps by %s ms disables nothing, and ends a wait at the latest when it was to',
  (jump) => {
    const run = runOf();
    const [delivery] = begin(run, start) as [Delivery];
    finish(run, delivery, 503, start);
    const [again] = begin(run, start + jump) as [Delivery];
    expect(again.event.id).toBe('1');
    finish(run, again, 503, start + jump);
    expect([run.state, run.takeProgress(true)?.failures]).toEqual(['failing', 2]);
    expect(begin(run, start + jump).length).toBe(0);
    expect(begin(run, start + jump + 40_000).length).toBe(1);
  },
);

it('five days of failures disable an endpoint, which then has no next attempt', () => {
  const run = runOf({ failures: 130, failingSince: new Date(start) });
  const [delivery] = begin(run, start + 5 * day) as [Delivery];
  finish(run, delivery, 503, start + 5 * day);
  expect(run.takeProgress(true)).toMatchObject({ disabledReason: 'FAILED_FOR_DAYS', nextAttemptAt: null });
});

it('what was refused is part of the progress, until the position has passed it', () => {
  const run = runOf();
  const [delivery] = begin(run, start) as [Delivery];
  finish(run, delivery, 422, start);
  expect(run.takeProgress(true)).toMatchObject({ position: '0', refusals: { 1: { count: 1, wait: { from: start } } } });
  const next = runOf({ refusals: { 1: { count: 4, wait: { from: start, until: start } } } });
  const [last] = begin(next, start) as [Delivery];
  finish(next, last, 422, start);
  expect(next.takeProgress(true)).toMatchObject({ position: '1', refusals: {} });
});
