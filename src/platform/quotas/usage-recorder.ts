import { every, SharedWork } from '../background.ts';
import type { MemoryCounterStore } from './memory-counter-store.ts';
import { dayMillis, type SpentWindow } from './window.ts';

/**
 * The usage of a subject and the time of its last use. Instants are milliseconds since 1970; 0 for a window that isn't
 * open.
 */
export interface SubjectUsage {
  readonly subjectId: string;
  readonly lastUsedAt: number;
  readonly minute: SpentWindow;
  readonly day: SpentWindow;
}

/** The daily usage of a subject. */
export interface DayCounter extends SpentWindow {
  readonly subjectId: string;
}

/** Stores usage for other processes and restarts. Both methods throw when the database can't be reached. */
export interface UsageTable {
  /** Counters that were opened after that instant, in milliseconds since 1970. */
  loadDays(openedAfter: number): Promise<DayCounter[]>;
  /** One statement. Keeps the larger figure of a window, since several processes may save it. */
  save(usages: readonly SubjectUsage[]): Promise<void>;
}

/** A killed process loses what it has counted since the last save. */
const saveEveryMillis = 500;
/** The largest number of keys in one statement. */
const batchSize = 1_000;

export interface UsageRecorderOptions {
  readonly store: MemoryCounterStore;
  readonly table: UsageTable;
  /** Called when counters couldn't be saved, once until they are; they are retried. */
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
}

/**
 * Saves the usage and the last use of keys, for the next process and for administrators.
 *
 * Saves every half second the keys used since, 1,000 per statement; no statement while there are none. No request waits
 * for it.
 */
export class UsageRecorder {
  readonly #options: UsageRecorderOptions;
  #timer: NodeJS.Timeout | undefined;
  readonly #saving = new SharedWork(() => this.#save());
  /** Reported once, however long it lasts. */
  #isFailing = false;

  constructor(options: UsageRecorderOptions) {
    this.#options = options;
  }

  /**
   * Restores the day counters; call it before the first request. Throws when the database can't be reached.
   */
  async start(): Promise<void> {
    const { store, table, now } = this.#options;
    store.restoreDays(await table.loadDays(now() - dayMillis));
    this.#timer = every(saveEveryMillis, () => this.#saving.run());
  }

  /** Call it after the last request, while the database is open. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  /** Saves everything that was counted before the call. Never throws. */
  flush(): Promise<void> {
    return this.#saving.runAnew();
  }

  async #save(): Promise<void> {
    const { store, table, onFailure } = this.#options;
    const usages = store.drain();
    for (let start = 0; start < usages.length; start += batchSize) {
      try {
        await table.save(usages.slice(start, start + batchSize));
        this.#isFailing = false;
      } catch (error) {
        store.requeue(usages.slice(start));
        if (!this.#isFailing) onFailure(error);
        this.#isFailing = true;
        return;
      }
    }
  }
}
