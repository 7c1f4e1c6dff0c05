import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import {
  Deliveries,
  type DeliveryEvent,
  type DeliveryStore,
  type Endpoint,
  type Progress,
  type SaveOutcome,
  type SendResult,
} from '../../../src/platform/delivery/index.ts';
import { atEnd } from '../../support/at-end.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { until } from '../../support/until.ts';

const seeds = Number(process.env['DELIVERY_SEEDS'] ?? 3);

/** Ten minutes pass in a second, for whatever waits for another attempt. */
const startedAt = Date.now();
const now = (): number => startedAt + (Date.now() - startedAt) * 600;

const leaseMillis = 30_000;
const maxResponseMillis = 8;

/** An event each: its subject by its number, and none for each fiftieth. */
function logOf(count: number, subjects: number): readonly DeliveryEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: String(index + 1),
    position: String(index + 1),
    subject: index % 50 === 49 ? undefined : String(index % subjects),
    at: new Date(),
    isReplay: false,
    isWanted: index % 7 !== 3,
    bytes: 100,
    body: () => String(index + 1),
  }));
}

type Row = { -readonly [Key in keyof Endpoint]: Endpoint[Key] } & {
  holder: string | undefined;
  leasedUntil: number;
  disabledReason: unknown;
};

/** What the processes share, as a database would have it. */
class MemoryStore implements DeliveryStore<Endpoint> {
  readonly rows = new Map<string, Row>();
  readonly #seen = new Set<string>();

  add(id: string, maxInFlight: number, isHealthy = true): void {
    this.rows.set(id, {
      id,
      fence: '0',
      maxInFlight,
      position: '0',
      failures: 0,
      isHealthy,
      refusals: {},
      holder: undefined,
      leasedUntil: 0,
      disabledReason: undefined,
    });
  }

  async lease(holder: string): Promise<readonly Endpoint[]> {
    await wait(2);
    const rows = [...this.rows.values()].filter(({ disabledReason }) => disabledReason === undefined);
    const part = Math.ceil(rows.length / this.#seen.add(holder).size);
    const isMine = (row: Row): boolean => row.holder === holder && row.leasedUntil > Date.now();
    const free = rows.filter((row) => !isMine(row) && row.leasedUntil <= Date.now());
    for (const row of free.slice(0, Math.max(0, part - rows.filter(isMine).length))) {
      if (row.holder !== holder) row.fence = String(Number(row.fence) + 1);
      row.holder = holder;
      row.leasedUntil = Date.now() + leaseMillis;
    }
    const mine = rows.filter(isMine).slice(0, part);
    for (const row of mine) row.leasedUntil = Date.now() + leaseMillis;
    return mine.map((row) => Object.assign({}, row));
  }

  async save(progress: readonly Progress[]): Promise<ReadonlyMap<string, SaveOutcome>> {
    await wait(2);
    const good = progress.filter(({ id, fence }) => this.rows.get(id)!.fence === fence);
    for (const row of good) {
      const { id, isReturned } = row;
      Object.assign(this.rows.get(id)!, row);
      if (isReturned) this.rows.get(id)!.leasedUntil = 0;
    }
    return new Map(progress.map((each) => [each.id, good.includes(each) ? 'saved' : 'lost']));
  }

  async release(holder: string): Promise<void> {
    await wait(2);
    this.expire(holder);
  }

  /** As 30 s after its end. */
  expire(holder: string): void {
    this.#seen.delete(holder);
    for (const row of this.rows.values()) if (row.holder === holder) row.leasedUntil = 0;
  }
}

type Send = (endpoint: Endpoint, event: DeliveryEvent) => Promise<SendResult | 'busy'>;

type Temper = (attempt: number, event: string) => number;

/** What endpoints got, in its order. */
class Receivers {
  readonly tempers = new Map<string, Temper>();
  readonly got = new Map<string, string[]>();
  readonly attempts = new Map<string, number>();
  readonly #random: SeededRandom;
  underWay = 0;
  mostUnderWay = 0;
  /** Of an endpoint. */
  readonly underWayOf = new Map<string, Set<string>>();
  mostOf = new Map<string, number>();

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  sending(): Send {
    return async ({ id }, event) => {
      const body = event.body();
      const running = this.underWayOf.get(id) ?? new Set();
      this.underWayOf.set(id, running.add(body));
      this.mostOf.set(id, Math.max(this.mostOf.get(id) ?? 0, running.size));
      this.mostUnderWay = Math.max(this.mostUnderWay, (this.underWay += 1));
      const key = `${id}/${body}`;
      const attempt = (this.attempts.get(key) ?? 0) + 1;
      this.attempts.set(key, attempt);
      await wait(this.#random.below(maxResponseMillis));
      const status = this.tempers.get(id)!(attempt, body);
      if (status === 200) this.got.set(id, [...(this.got.get(id) ?? []), body]);
      running.delete(body);
      this.underWay -= 1;
      return { status, failure: undefined, cause: undefined, durationMillis: 1, retryAfterMillis: undefined };
    };
  }
}

/** One process, which may be killed: it sends nothing more, and nothing that it did is saved. */
class Process {
  readonly deliveries: Deliveries<Endpoint>;
  readonly #store: MemoryStore;
  #holder = '';
  #isKilled = false;

  constructor(store: MemoryStore, events: readonly DeliveryEvent[], send: Send, clock = now) {
    this.#store = store;
    const ignore = (): void => undefined;
    this.deliveries = new Deliveries<Endpoint>({
      store: {
        lease: (holder) => this.#whileAlive(() => store.lease((this.#holder = holder))),
        save: (progress) => this.#whileAlive(() => store.save(progress)),
        release: (holder) => this.#whileAlive(() => store.release(holder)),
      },
      log: {
        readAfter: (_endpoint, position, limit) =>
          this.#whileAlive(async () => {
            await wait(1);
            return events.slice(Number(position), Number(position) + limit);
          }),
      },
      send: (endpoint, event) => this.#whileAlive(() => send(endpoint, event)),
      now: clock,
      onAttempt: ignore,
      onFailing: ignore,
      onRecovered: ignore,
      onDisabled: ignore,
      onFailure: (error) => {
        throw error;
      },
    });
    this.deliveries.start();
    atEnd(() => this.#isKilled || this.deliveries.stop());
  }

  get isAlive(): boolean {
    return !this.#isKilled;
  }

  kill(): void {
    this.#isKilled = true;
    // Its leases outlive the requests that were under way.
    setTimeout(() => this.#store.expire(this.#holder), 2 * maxResponseMillis);
  }

  async #whileAlive<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isKilled) return new Promise(() => undefined);
    const result = await work();
    return this.#isKilled ? new Promise(() => undefined) : result;
  }
}

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
