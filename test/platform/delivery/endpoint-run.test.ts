import { expect, it } from '@jest/globals';

import { type Delivery, EndpointRun } from '../../../src/platform/delivery/endpoint-run.ts';
import type { DeliveryEvent, Endpoint } from '../../../src/platform/delivery/endpoint.ts';
import type { SendResult } from '../../../src/platform/delivery/sender.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);

const endpoint: Endpoint = {
  id: '1',
  fence: '1',
  url: 'https://example.com/',
  maxInFlight: 4,
  position: '0',
  failing: undefined,
  isHealthy: true,
  isTrusted: false,
  refusals: {},
  secrets: () => [],
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

function result(outcome: SendResult['outcome'], retryAfterMillis?: number): SendResult {
  const status = { delivered: 200, refused: 422, failed: 503, gone: 410 }[outcome];
  return { outcome, status, failure: undefined, cause: undefined, durationMillis: 5, retryAfterMillis };
}

/** One success, so that several are under way afterwards. */
function warm(run: EndpointRun<Endpoint>): void {
  for (const delivery of begin(run, start)) run.finish(delivery, result('delivered'), start);
}

it('Retry-After of a later parallel failure is heeded', () => {
  const run = runOf();
  warm(run);
  const [first, second] = begin(run, start) as [Delivery, Delivery];
  run.finish(first, result('failed'), start);
  run.finish(second, result('failed', hour), start);
  expect([begin(run, start + hour - 1).length, begin(run, start + hour).length]).toEqual([0, 1]);
  expect(run.takeProgress(true)?.failing).toMatchObject({ count: 1, wait: { from: start, until: start + hour } });
});

it.each([-6 * day, -hour, hour, 6 * day])(
  'a clock that jumps by %s ms disables nothing, and ends a wait at the latest when it was to',
  (jump) => {
    const run = runOf();
    const [delivery] = begin(run, start) as [Delivery];
    run.finish(delivery, result('failed'), start);
    const [again] = begin(run, start + jump) as [Delivery];
    expect(again.event.id).toBe('1');
    run.finish(again, result('failed'), start + jump);
    expect([run.state, run.takeProgress(true)?.failing?.count]).toEqual(['failing', 2]);
    expect(begin(run, start + jump).length).toBe(0);
    expect(begin(run, start + jump + 40_000).length).toBe(1);
  },
);

it('five days of failures disable an endpoint, which then has no next attempt', () => {
  const run = runOf({ failing: { count: 130, since: start, wait: undefined } });
  const [delivery] = begin(run, start + 5 * day) as [Delivery];
  run.finish(delivery, result('failed'), start + 5 * day);
  expect(run.takeProgress(true)).toMatchObject({ disabled: 'FAILED_FOR_DAYS', failing: { wait: undefined } });
});

it('what was refused is part of the progress, until the position has passed it', () => {
  const run = runOf();
  const [delivery] = begin(run, start) as [Delivery];
  run.finish(delivery, result('refused'), start);
  expect(run.takeProgress(true)).toMatchObject({ position: '0', refusals: { 1: { count: 1, wait: { from: start } } } });
  const next = runOf({ refusals: { 1: { count: 4, wait: { from: start, until: start } } } });
  const [last] = begin(next, start) as [Delivery];
  next.finish(last, result('refused'), start);
  expect(next.takeProgress(true)).toMatchObject({ position: '1', refusals: {} });
});
