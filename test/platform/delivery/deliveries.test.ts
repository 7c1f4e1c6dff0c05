import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import type { DeliveryEvent, SendResult } from '../../../src/platform/delivery/index.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { until } from '../../support/until.ts';
import { logOf, MemoryStore, Process, Receivers, type Send, startedAt, type Temper } from './memory-deliveries.ts';

const seeds = Number(process.env['DELIVERY_SEEDS'] ?? 3);

/** The first time that each was received. */
const firsts = (got: readonly string[] = []): string[] => [...new Set(got)];

function expectOrder(events: readonly DeliveryEvent[], got: readonly string[], isWhole = false): void {
  const order = firsts(got);
  const wanted = events.filter(({ isWanted }) => isWanted);
  expect(order.length).toBe(wanted.length);
  if (isWhole) expect(order).toEqual(wanted.map(({ id }) => id));
  const at = new Map(order.map((id, index) => [id, index]));
  const lastOf = new Map<string, number>();
  let barrier = -1;
  let furthest = -1;
  for (const { id, subject } of wanted) {
    const index = at.get(id)!;
    expect(index).toBeGreaterThan(subject === undefined ? furthest : Math.max(barrier, lastOf.get(subject) ?? -1));
    if (subject === undefined) barrier = index;
    else lastOf.set(subject, index);
    furthest = Math.max(furthest, index);
  }
}

it.each(Array.from({ length: seeds }, (_, index) => index + 1))(
  'each event arrives, those of one subject in their order, whatever receivers do and however processes end (seed %s)',
  async (seed) => {
    const random = new SeededRandom(seed);
    const store = new MemoryStore();
    const receivers = new Receivers(random);
    const events = logOf(230, 12);
    const tempers: Record<string, Temper> = {
      good: () => 200,
      ordered: () => 200,
      flapping: () => (random.chance(0.04) ? 503 : 200),
      refusing: (attempt, event) => (Number(event) % 60 === 5 && attempt < 3 ? 400 : 200),
      never: (_attempt, event) => (Number(event) % 90 === 4 ? 400 : 200),
      dead: () => 503,
      gone: (_attempt, event) => (Number(event) > 20 ? 410 : 200),
    };
    for (const [id, temper] of Object.entries(tempers)) {
      receivers.tempers.set(id, temper);
      store.add(id, id === 'ordered' ? 1 : 4);
    }
    const send = receivers.sending();
    const first = new Process(store, events, send);
    await wait(50 + random.below(100));
    const second = new Process(store, events, send);
    await wait(random.below(200));
    first.kill();
    await wait(random.below(200));
    const third = new Process(store, events, send);
    await wait(random.below(300));
    second.kill();
    expect(third.isAlive).toBe(true);
    const isDone = (id: string): boolean => store.rows.get(id)!.position === '230';
    await until(() => ['good', 'ordered', 'flapping', 'refusing', 'never'].every(isDone), { maxMillis: 90_000 });

    for (const id of ['good', 'flapping', 'refusing']) expectOrder(events, receivers.got.get(id)!);
    expectOrder(events, receivers.got.get('ordered')!, true);
    const refused = events.filter(({ id, isWanted }) => isWanted && Number(id) % 90 === 4).map(({ id }) => id);
    expect(refused.length).toBeGreaterThan(0);
    // An attempt that a killed process could not save is made again.
    expect(refused.filter((id) => [5, 6, 7].includes(receivers.attempts.get(`never/${id}`)!))).toEqual(refused);
    expect(firsts(receivers.got.get('never')).length).toBe(
      events.filter(({ isWanted }) => isWanted).length - refused.length,
    );
    expect(receivers.got.get('dead')).toBeUndefined();
    expect(store.rows.get('dead')).toMatchObject({ position: '0' });
    expect([...receivers.attempts.keys()].filter((key) => key.startsWith('dead/')).length).toBeLessThanOrEqual(4);
    expect(store.rows.get('gone')).toMatchObject({ disabledReason: 'GONE' });
    expect([...receivers.mostOf].filter(([id, most]) => most > (id === 'ordered' ? 1 : 4))).toEqual([]);
  },
);

it('a hundred dead endpoints take 48 of 64 slots, and delay no good one', async () => {
  const store = new MemoryStore();
  const receivers = new Receivers(new SeededRandom(1));
  const ends: (() => void)[] = [];
  for (let index = 0; index < 100; index += 1) {
    store.add(`dead${index}`, 4, false);
    receivers.tempers.set(`dead${index}`, () => 503);
  }
  store.add('good', 4);
  receivers.tempers.set('good', () => 200);
  const receiving = receivers.sending();
  let held = 0;
  const send: Send = async (endpoint, event) => {
    if (!endpoint.id.includes('dead')) return receiving(endpoint, event);
    held += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    return receiving(endpoint, event);
  };
  const { isAlive } = new Process(store, logOf(200, 10), send);
  await until(() => store.rows.get('good')!.position === '200');
  expect([isAlive, held]).toEqual([true, 48]);
  for (const end of ends) end();
});

it('what comes after a refused event is sent, also behind a hundred that are not wanted', async () => {
  const store = new MemoryStore();
  store.add('refusing', 4);
  const receivers = new Receivers(new SeededRandom(1));
  receivers.tempers.set('refusing', (_attempt, event) => (event === '1' ? 400 : 200));
  const [event] = logOf(1, 1);
  const events = [event!];
  // Time stands still, so the refused event waits for ever.
  const { isAlive } = new Process(store, events, receivers.sending(), () => startedAt);
  await until(() => receivers.attempts.get('refusing/1') === 1);
  for (let id = 2; id <= 200; id += 1) {
    const [text, isWanted] = [String(id), id === 200];
    events.push({ ...event!, id: text, position: text, subject: text, isWanted, body: () => text });
  }
  await until(() => receivers.got.get('refusing')?.includes('200') === true);
  await until(() => store.rows.get('refusing')!.isHealthy);
  expect([isAlive, store.rows.get('refusing')!.position]).toEqual([true, '0']);
});

it('slow endpoints have one request under way each, and leave slots to quick ones', async () => {
  const store = new MemoryStore();
  const receivers = new Receivers(new SeededRandom(1));
  for (let index = 0; index < 20; index += 1) {
    store.add(`slow${index}`, 4);
    receivers.tempers.set(`slow${index}`, () => 200);
  }
  store.add('good', 4);
  receivers.tempers.set('good', () => 200);
  const quick = receivers.sending();
  let held = 0;
  const send: Send = async (endpoint, event) => {
    const isSlow = endpoint.id.includes('slow');
    // The first of each tells that it is slow; the others have no end.
    if (isSlow && event.id !== '1') await new Promise(() => (held += 1));
    return { ...((await quick(endpoint, event)) as SendResult), durationMillis: isSlow ? 5_000 : 1 };
  };
  const events = logOf(1, 1).slice();
  const process = new Process(store, events, send);
  await until(() => [...store.rows.values()].every(({ position }) => position === '1'));
  events.push(...logOf(200, 100).slice(1));
  await until(() => store.rows.get('good')!.position === '200');
  expect(held).toBe(20);
  process.kill();
});

it('a process that joins gets its part at once, when the other has returned it', async () => {
  const store = new MemoryStore();
  const receivers = new Receivers(new SeededRandom(1));
  for (const id of ['a', 'b', 'c', 'd']) {
    store.add(id, 4);
    receivers.tempers.set(id, () => 200);
  }
  const first = new Process(store, [], receivers.sending());
  const holders = (): unknown[] => [...store.rows.values()].map(({ holder, leasedUntil }) => leasedUntil > 0 && holder);
  await until(() => new Set(holders()).size === 1 && !holders().includes(false));
  const second = new Process(store, [], receivers.sending());
  await until(() => !holders().includes(false) && new Set(holders()).size === 2, { maxMillis: 10_000 });
  expect([first.isAlive, second.isAlive]).toEqual([true, true]);
});

it('endpoints of which nothing is known yet leave slots to those that respond', async () => {
  const store = new MemoryStore();
  const receivers = new Receivers(new SeededRandom(1));
  store.add('good', 16);
  receivers.tempers.set('good', () => 200);
  let held = 0;
  const quick = receivers.sending();
  const send: Send = async (endpoint, event) => {
    if (!endpoint.id.includes('good')) await new Promise(() => (held += 1));
    return quick(endpoint, event);
  };
  const events = logOf(2, 2).slice();
  const process = new Process(store, events, send);
  await until(() => store.rows.get('good')!.position === '2');
  for (let index = 0; index < 100; index += 1) store.add(`new${index}`, 4);
  await until(() => held === 56);
  events.push(...logOf(200, 100).slice(2));
  await until(() => store.rows.get('good')!.position === '200');
  expect(held).toBe(56);
  process.kill();
});

it('a process that has stopped leases nothing, whatever is changed then', async () => {
  const store = new MemoryStore();
  const receivers = new Receivers(new SeededRandom(1));
  store.add('a', 4);
  receivers.tempers.set('a', () => 200);
  const { deliveries } = new Process(store, [], receivers.sending());
  const leasedUntil = (): number => store.rows.get('a')!.leasedUntil;
  await until(() => leasedUntil() > 0);
  await Promise.all([deliveries.stop(), deliveries.applyChanges()]);
  await deliveries.applyChanges();
  expect(leasedUntil()).toBe(0);
});

it('an event whose address is busy is sent when it is no more', async () => {
  const store = new MemoryStore();
  const receivers = new Receivers(new SeededRandom(1));
  store.add('a', 4);
  receivers.tempers.set('a', () => 200);
  const receiving = receivers.sending();
  let tries = 0;
  const send: Send = async (endpoint, event) => {
    tries += 1;
    return tries === 1 ? 'busy' : receiving(endpoint, event);
  };
  const process = new Process(store, logOf(1, 1), send);
  await until(() => receivers.got.get('a')?.length === 1);
  expect(tries).toBe(2);
  process.kill();
});
