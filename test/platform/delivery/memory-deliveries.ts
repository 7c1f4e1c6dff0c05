import { setTimeout as wait } from 'node:timers/promises';

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
import type { SeededRandom } from '../../support/seeded-random.ts';

/** Ten minutes pass in a second, for whatever waits for another attempt. */
export const startedAt = Date.now();
const now = (): number => startedAt + (Date.now() - startedAt) * 600;

const leaseMillis = 30_000;
const maxResponseMillis = 8;

/** An event each: its subject by its number, and none for each fiftieth. */
export function logOf(count: number, subjects: number): readonly DeliveryEvent[] {
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
export class MemoryStore implements DeliveryStore<Endpoint> {
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

export type Send = (endpoint: Endpoint, event: DeliveryEvent) => Promise<SendResult | 'busy'>;

export type Temper = (attempt: number, event: string) => number;

/** What endpoints got, in its order. */
export class Receivers {
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
export class Process {
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
