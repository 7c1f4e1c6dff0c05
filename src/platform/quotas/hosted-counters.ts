import type { BanRules } from './bans.ts';
import { type CounterRequest, type CounterResponse, counterResponseOf, readRequest } from './counter-messages.ts';
import { MemoryCounterStore } from './memory-counter-store.ts';
import { UsageRecorder, type UsageTable } from './usage-recorder.ts';

export interface HostedCountersOptions {
  readonly rules: BanRules;
  /** The table in a process that has opened the database: this one hasn't. */
  readonly table: UsageTable;
  /** Usage couldn't be saved; it is retried. */
  readonly onSaveFailure: (error: unknown) => void;
}

/** The counters of several processes on this machine, in the one that all of them ask. */
export class HostedCounters {
  readonly #store: MemoryCounterStore;
  readonly #recorder: UsageRecorder;
  /** Told before the first request. */
  #offset = 0;
  #starting: Promise<void> | undefined;

  constructor({ rules, table, onSaveFailure: onFailure }: HostedCountersOptions) {
    const now = (): number => Math.floor(monotonicMillis() + this.#offset);
    this.#store = new MemoryCounterStore({ rules, now });
    this.#recorder = new UsageRecorder({ store: this.#store, table, onFailure, now });
  }

  /** Restores the day counters, once; call it before the first request. Throws when the database can't be reached. */
  start(): Promise<void> {
    this.#starting ??= this.#recorder.start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  /** The database's clock, as one of the processes sees it: see `clockOffset`. */
  setClock(offset: number): void {
    this.#offset = offset;
  }

  decide(request: CounterRequest): CounterResponse {
    return counterResponseOf(this.#store.count(...readRequest(request)));
  }

  /** Saves everything that was counted before the call. Never throws. */
  saveUsage(): Promise<void> {
    return this.#recorder.flush();
  }
}

/** How far a clock is before the monotonic time, which all processes of a machine share. */
export function clockOffset(now: () => number): number {
  return now() - monotonicMillis();
}

function monotonicMillis(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
