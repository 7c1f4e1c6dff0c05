import { afterAll, expect, it } from '@jest/globals';

import type { Delivery } from '../../../src/platform/delivery/delivery.ts';
import { EndpointRun } from '../../../src/platform/delivery/endpoint-run.ts';
import type { DeliveryEvent, Endpoint } from '../../../src/platform/delivery/endpoint.ts';
import { inOrder, partOf, DeliverySlots } from '../../../src/platform/delivery/delivery-slots.ts';

/** Monotonic time, which passes as these tests say. */
let now = 1_000;
const realNow = performance.now.bind(performance);
performance.now = () => now;
afterAll(() => {
  performance.now = realNow;
});

function runOf(id: string): EndpointRun<Endpoint> {
  const state = { position: '0', refusals: {}, failures: 0, isHealthy: true };
  const run = new EndpointRun({ id, fence: '1', maxInFlight: 16, ...state });
  run.add(
    Array.from({ length: 20 }, (_, index): DeliveryEvent => {
      const event = { id: String(index), position: String(index), subject: String(index), at: new Date(0) };
      return { ...event, isWanted: true, isReplay: false, bytes: 1, body: () => '' };
    }),
  );
  return run;
}

function begin(run: EndpointRun<Endpoint>): Delivery {
  const delivery = run.next(0)!;
  run.begin(delivery);
  return delivery;
}

/** The event is accepted after so long. */
function deliver(run: EndpointRun<Endpoint>, durationMillis: number): void {
  const delivery = begin(run);
  now += durationMillis;
  const result = { failure: undefined, cause: undefined, retryAfterMillis: undefined };
  run.finish(delivery, 'delivered', { status: 204, durationMillis, ...result }, 0);
}

const idsOf = (runs: readonly EndpointRun<Endpoint>[]): string[] => runs.map(({ endpoint }) => endpoint.id);

it('whose deliveries have held slots for the shortest time is served first, however many they were', () => {
  const [slow, quick, third] = [runOf('slow'), runOf('quick'), runOf('third')];
  deliver(slow, 1_500);
  for (let count = 0; count < 10; count += 1) deliver(quick, 20);
  deliver(third, 400);
  const all = [slow, third, quick];
  expect(idsOf(inOrder(all, all))).toEqual(['quick', 'third', 'slow']);
  // What is under way counts until now.
  begin(slow);
  begin(quick);
  begin(quick);
  now += 3_000;
  expect(idsOf(inOrder([quick, slow], all))).toEqual(['slow', 'quick']);
});

it('one that had nothing to send has saved up no time', () => {
  const [busy, other, late] = [runOf('busy'), runOf('other'), runOf('late')];
  deliver(busy, 900);
  deliver(other, 800);
  begin(busy);
  now += 50;
  const all = [busy, other, late];
  expect(idsOf(inOrder([late], all))).toEqual(['late']);
  expect(late.heldMillis).toBe(busy.heldMillis);
});

it('each has an equal part of 64 while others want some, and one that was slow begins with one at a time', () => {
  const runs = Array.from({ length: 9 }, (_, index) => runOf(String(index)));
  expect(partOf(runs)).toBe(7);
  expect(partOf(runs.slice(0, 1))).toBe(64);
  const [quick] = runs;
  for (let count = 0; count < 8; count += 1) deliver(quick!, 20);
  for (let count = 0; count < 6; count += 1) begin(quick!);
  expect([quick!.next(0, 6), quick!.next(0, 7)?.event.id]).toEqual([undefined, '14']);
  const stalled = runOf('stalled');
  for (let count = 0; count < 5; count += 1) deliver(stalled, 20);
  deliver(stalled, 2_500);
  begin(stalled);
  expect(stalled.next(0)).toBeUndefined();
});

it.each([
  [0, 48],
  [1, 56],
  [2, 64],
] as const)('of standing %s at most %s are under way', (standing, most) => {
  const slots = new DeliverySlots();
  let taken = 0;
  for (; slots.isFree(standing); taken += 1) slots.take(standing);
  expect(taken).toBe(most);
  slots.leave(standing);
  expect(slots.isFree(standing)).toBe(true);
});
