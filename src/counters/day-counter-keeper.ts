import type { DayCounterTable } from '../domain/quota/day-counters.ts';
import { dayMillis } from '../domain/quota/window.ts';
import type { MemoryCounterStore } from './memory-counter-store.ts';

/** What a killed process has counted is lost from this much before its end. */
const saveEveryMillis = 500;

export interface DayCounterKeeperOptions {
  readonly store: MemoryCounterStore;
  readonly table: DayCounterTable;
  /** Told that counters couldn't be saved; they are the next time. */
  readonly onFailure: (error: unknown) => void;
  readonly now?: (() => number) | undefined;
}

/**
 * Keeps the day counters of a single process in the database, so that they survive a restart, a hard one too.
 *
 * One statement each half second, and none while nobody spends anything.
 */
export class DayCounterKeeper {
  readonly #options: DayCounterKeeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;

  constructor(options: DayCounterKeeperOptions) {
    this.#options = options;
  }

  /** Before the first request. Throws UNAVAILABLE when the database can't be reached. */
  async start(): Promise<void> {
    const { store, table, now = Date.now } = this.#options;
    store.restore(await table.load(now() - dayMillis));
    this.#timer = setInterval(() => void this.#save(), saveEveryMillis).unref();
  }

  /** After the last request, while the database is still there. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#saving;
    await this.#save();
  }

  #save(): Promise<void> {
    this.#saving ??= this.#saveChanged().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  async #saveChanged(): Promise<void> {
    const { store, table, onFailure } = this.#options;
    const counters = store.takeChanged();
    if (counters.length === 0) return;
    try {
      await table.save(counters);
    } catch (error) {
      store.putBack(counters);
      onFailure(error);
    }
  }
}
