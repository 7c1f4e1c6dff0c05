import type { BanRules } from './bans.ts';
import { decide, decisionOf, isExpired, newCounter, ownBans, type Counter, type CounterDecision } from './counter.ts';
import type { Charge, CounterStore, QuotaDecision, QuotaSubject } from './counter-store.ts';
import type { DayCounter, SubjectUsage } from './usage-recorder.ts';

export interface MemoryCounterStoreOptions {
  readonly rules: BanRules;
  readonly now: () => number;
  /** The maximum number of addresses counted at a time; the oldest are evicted. */
  readonly maxAddresses?: number | undefined;
}

/** The state of a counter. Instants are milliseconds since 1970; zero means never. */
export type CounterSnapshot = Pick<CounterDecision, 'minute' | 'day' | 'bannedUntil'>;

const neverOpened = { openedAt: 0, spent: 0 };
export const emptySnapshot: CounterSnapshot = { minute: neverOpened, day: neverOpened, bannedUntil: 0 };

/** How many counters are checked for expiry with each new one, so that expired ones don't pile up. */
const sweepsPerInsertion = 2;

/** Counts in this process. */
export class MemoryCounterStore implements CounterStore {
  readonly #rules: BanRules;
  readonly #now: () => number;
  readonly #keys: SweptCounters;
  readonly #addresses: SweptCounters;
  /** The keys that were used since the last drain, and when they were last. */
  readonly #used = new Map<string, number>();

  constructor({ rules, now, maxAddresses = 100_000 }: MemoryCounterStoreOptions) {
    this.#rules = rules;
    this.#now = now;
    this.#keys = new SweptCounters(Infinity);
    this.#addresses = new SweptCounters(maxAddresses);
  }

  get size(): number {
    return this.#keys.size + this.#addresses.size;
  }

  decide(subject: QuotaSubject, charge: Charge): QuotaDecision {
    return decisionOf(this.count(subject, charge), subject, charge);
  }

  /** The same, with the windows after it instead of figures for clients. They change with the next decision. */
  count(subject: QuotaSubject, charge: Charge): CounterDecision {
    const now = this.#now();
    this.#markUsed(subject, now);
    return decide(this.#counterOf(subject, now), subject, charge, this.#rules, now);
  }

  /** Sets the counter to the decision of another store. */
  restore(subject: QuotaSubject, { now, minute, day, bannedUntil, banEpoch, isBanNew }: CounterDecision): void {
    this.#markUsed(subject, now);
    const counter = this.#counterOf(subject, now);
    Object.assign(counter.minute, minute, { firstRefusedAt: 0 });
    Object.assign(counter.day, day, { firstRefusedAt: 0 });
    if (subject.isAnonymous) return;
    if (banEpoch === counter.bans.epoch && bannedUntil === counter.bans.bannedUntil && !isBanNew) return;
    const bans = ownBans(counter);
    bans.epoch = banEpoch;
    bans.bannedUntil = bannedUntil;
    if (isBanNew) bans.automaticBans = [...bans.automaticBans, now];
  }

  /** A snapshot of a subject for a store that may have lost it: its windows, and its ban of the same epoch. */
  snapshot({ id, isAnonymous, bans }: QuotaSubject): CounterSnapshot {
    const counter = (isAnonymous ? this.#addresses : this.#keys).get(id);
    if (counter === undefined) return emptySnapshot;
    const { minute, day, bans: known } = counter;
    return { minute, day, bannedUntil: known.epoch === bans?.epoch ? known.bannedUntil : 0 };
  }

  /** The keys used since the last call, with their usage. */
  drain(): SubjectUsage[] {
    const usages: SubjectUsage[] = [];
    for (const [subjectId, lastUsedAt] of this.#used) {
      const { minute, day } = this.#keys.get(subjectId) ?? emptySnapshot;
      usages.push({ subjectId, lastUsedAt, minute: { ...minute }, day: { ...day } });
    }
    this.#used.clear();
    return usages;
  }

  /** Requeues drained keys that couldn't be saved. */
  requeue(usages: readonly SubjectUsage[]): void {
    for (const { subjectId, lastUsedAt } of usages) {
      if (!this.#used.has(subjectId)) this.#used.set(subjectId, lastUsedAt);
    }
  }

  /** Restores the day counters of an earlier process. */
  restoreDays(counters: readonly DayCounter[]): void {
    const now = this.#now();
    for (const { subjectId, openedAt, spent } of counters)
      Object.assign(this.#keys.at(subjectId, now).day, { openedAt, spent });
  }

  #markUsed({ id, isAnonymous, isUnsaved }: QuotaSubject, now: number): void {
    if (!isAnonymous && isUnsaved !== true) this.#used.set(id, now);
  }

  #counterOf({ id, isAnonymous }: QuotaSubject, now: number): Counter {
    return (isAnonymous ? this.#addresses : this.#keys).at(id, now);
  }
}

/** Counters by subject; expired ones are deleted a few at a time. */
class SweptCounters {
  readonly #maxSize: number;
  readonly #counters = new Map<string, Counter>();
  #sweep = this.#counters.entries();

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get size(): number {
    return this.#counters.size;
  }

  get(id: string): Counter | undefined {
    return this.#counters.get(id);
  }

  at(id: string, now: number): Counter {
    let counter = this.#counters.get(id);
    if (counter === undefined) {
      this.#evict(now);
      counter = newCounter();
      this.#counters.set(id, counter);
    }
    return counter;
  }

  #evict(now: number): void {
    for (let count = 0; count < sweepsPerInsertion; count++) {
      const { value } = this.#sweep.next();
      if (value === undefined) this.#sweep = this.#counters.entries();
      else if (isExpired(value[1], now)) this.#counters.delete(value[0]);
    }
    if (this.#counters.size < this.#maxSize) return;
    const { value: oldest } = this.#counters.keys().next();
    if (oldest !== undefined) this.#counters.delete(oldest);
  }
}
