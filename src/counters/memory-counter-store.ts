import type { BanRules } from '../domain/quota/bans.ts';
import { decide, decisionOf, isOver, newCounter, type Counter, type Verdict } from '../domain/quota/counter.ts';
import type { Charge, CounterStore, QuotaDecision, QuotaSubject } from '../domain/quota/counter-store.ts';
import type { DayCounter } from '../domain/quota/day-counters.ts';

export interface MemoryCounterStoreOptions {
  readonly rules: BanRules;
  readonly now?: (() => number) | undefined;
  /** More addresses than this are never counted at a time: the longest known are forgotten for new ones. */
  readonly maxAddresses?: number | undefined;
}

/** What one process remembers. Instants are milliseconds since 1970; zero means never. */
export type Knowledge = Pick<Verdict, 'minute' | 'day' | 'bannedUntil'>;

const neverOpened = { openedAt: 0, spent: 0 };
const nothingKnown: Knowledge = { minute: neverOpened, day: neverOpened, bannedUntil: 0 };

/** Counters that are looked at on each new one, so that there are never many more than are needed. */
const sweepsPerInsertion = 2;

/** Counts in this process. */
export class MemoryCounterStore implements CounterStore {
  readonly #rules: BanRules;
  readonly #now: () => number;
  readonly #keys: SweptCounters;
  readonly #addresses: SweptCounters;
  /** The keys that have spent since their day counters were taken last. */
  readonly #changed = new Set<string>();

  constructor({ rules, now = Date.now, maxAddresses = 100_000 }: MemoryCounterStoreOptions) {
    this.#rules = rules;
    this.#now = now;
    this.#keys = new SweptCounters(Infinity);
    this.#addresses = new SweptCounters(maxAddresses);
  }

  /** How many counters are kept. */
  get size(): number {
    return this.#keys.size + this.#addresses.size;
  }

  async decide(subject: QuotaSubject, charge: Charge): Promise<QuotaDecision> {
    return this.decideNow(subject, charge);
  }

  decideNow(subject: QuotaSubject, charge: Charge): QuotaDecision {
    const now = this.#now();
    const verdict = decide(this.#counterOf(subject, now), subject, charge, this.#rules, now);
    if (charge.spends > 0 && !subject.isAnonymous) this.#changed.add(subject.id);
    return decisionOf(verdict, subject, charge);
  }

  /** Takes over what another store has counted, so that it can be gone on with here. */
  adopt(subject: QuotaSubject, { now, minute, day, bannedUntil, banEpoch, isBanNew }: Verdict): void {
    const counter = this.#counterOf(subject, now);
    Object.assign(counter.minute, minute, { firstRefusedAt: 0 });
    Object.assign(counter.day, day, { firstRefusedAt: 0 });
    const { bans } = counter;
    bans.epoch = banEpoch;
    bans.bannedUntil = bannedUntil;
    if (isBanNew) bans.automaticBans = [...bans.automaticBans, now];
  }

  /** What is known of a subject, for a store that may have lost it: its windows, and its ban of the same epoch. */
  recall({ id, isAnonymous, bans }: QuotaSubject): Knowledge {
    const counter = (isAnonymous ? this.#addresses : this.#keys).get(id);
    if (counter === undefined) return nothingKnown;
    const { minute, day, bans: kept } = counter;
    return { minute, day, bannedUntil: kept.epoch === bans?.epoch ? kept.bannedUntil : 0 };
  }

  /** The day counters that have changed since they were taken last. */
  takeChanged(): DayCounter[] {
    const counters: DayCounter[] = [];
    for (const subjectId of this.#changed) {
      const day = this.#keys.get(subjectId)?.day;
      if (day !== undefined && day.openedAt !== 0)
        counters.push({ subjectId, openedAt: day.openedAt, spent: day.spent });
    }
    this.#changed.clear();
    return counters;
  }

  /** Puts taken counters back that couldn't be kept. */
  putBack(counters: readonly DayCounter[]): void {
    for (const { subjectId } of counters) this.#changed.add(subjectId);
  }

  /** Goes on with the day counters of an earlier process. */
  restore(counters: readonly DayCounter[]): void {
    const now = this.#now();
    for (const { subjectId, openedAt, spent } of counters)
      Object.assign(this.#keys.at(subjectId, now).day, { openedAt, spent });
  }

  #counterOf({ id, isAnonymous }: QuotaSubject, now: number): Counter {
    return (isAnonymous ? this.#addresses : this.#keys).at(id, now);
  }
}

/** Counters by subject, of which those that are over go by themselves. */
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
      this.#makeRoom(now);
      counter = newCounter();
      this.#counters.set(id, counter);
    }
    return counter;
  }

  #makeRoom(now: number): void {
    for (let count = 0; count < sweepsPerInsertion; count++) {
      const { value } = this.#sweep.next();
      if (value === undefined) this.#sweep = this.#counters.entries();
      else if (isOver(value[1], now)) this.#counters.delete(value[0]);
    }
    if (this.#counters.size < this.#maxSize) return;
    for (const oldest of this.#counters.keys()) {
      this.#counters.delete(oldest);
      return;
    }
  }
}
