import { performance } from 'node:perf_hooks';

import { SharedWork } from '../background.ts';

/** The time that may be spent at once on collecting, and the share of all time after that. */
const burstMillis = 1_000;
const share = 0.02;

/**
 * The text of the metrics. It is public and served under overload, so collecting it is bounded: one collection at a
 * time, and beyond a budget of time the last text is sent again, as one buffer for all clients. A scrape every
 * few seconds always collects.
 */
export class MetricsText {
  readonly #read: () => Promise<string>;
  #last: Buffer | undefined;
  readonly #collecting = new SharedWork(() => this.#collect());
  /** The time spent, less the share of the time since. */
  #spentMillis = 0;
  #measuredAt = performance.now();

  /** `read` makes the text. */
  constructor(read: () => Promise<string>) {
    this.#read = read;
  }

  get(): Promise<Buffer> {
    const now = performance.now();
    this.#spentMillis = Math.max(0, this.#spentMillis - share * (now - this.#measuredAt));
    this.#measuredAt = now;
    if (this.#last !== undefined && this.#spentMillis >= burstMillis) return Promise.resolve(this.#last);
    return this.#collecting.run();
  }

  async #collect(): Promise<Buffer> {
    const startedAt = performance.now();
    try {
      this.#last = Buffer.from(await this.#read());
      return this.#last;
    } finally {
      this.#spentMillis += performance.now() - startedAt;
    }
  }
}
