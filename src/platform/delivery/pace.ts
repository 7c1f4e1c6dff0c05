import { setTimeout as wait } from 'node:timers/promises';

/** Lets work begin one after another: much of it at once holds up nothing else. */
export class Pace {
  readonly #everyMillis: number;
  /** Monotonic time. */
  #nextAt = 0;

  constructor(everyMillis: number) {
    this.#everyMillis = everyMillis;
  }

  /** Resolves when the caller may begin, in the order of the calls. */
  async enter(): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#everyMillis;
    if (at > now) await wait(at - now);
  }
}
