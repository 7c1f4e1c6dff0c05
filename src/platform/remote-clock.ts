/** The time that several processes share, in whole milliseconds since 1970. */
export interface SharedClock {
  now(): number;
  /** The same, but a jump forth counts only after a while: nothing expires by a clock that is wrong for a moment. */
  settled(): number;
}

/** How long a jump forth has to last until it is believed. */
const settleMillis = 120_000;

/** Corrections that are no jump. */
const toleranceMillis = 1_000;

/** By how much a process's monotonic time may drift in a millisecond. */
const drift = 1e-4;

/**
 * The clock of a server, as last seen, and carried on by this process's monotonic time. This process's own clock, which
 * may be wrong or set, doesn't matter once the other one was seen.
 *
 * Model: a reading is right within half of its round trip. The best reading counts until another one contradicts it,
 * because a clock has jumped, or is better.
 */
export class RemoteClock implements SharedClock {
  readonly #monotonic: () => number;
  /** The offset that is added to monotonic time. */
  #offset: number;
  #settledOffset: number;
  #errorMillis = Infinity;
  #seenAt: number;
  #jumpedAt: number | undefined;

  /** Before the first reading it shows `initial`. */
  constructor(initial = Date.now, monotonic = (): number => performance.now()) {
    this.#monotonic = monotonic;
    this.#seenAt = monotonic();
    this.#offset = initial() - this.#seenAt;
    this.#settledOffset = this.#offset;
  }

  now(): number {
    return Math.floor(this.#monotonic() + this.#offset);
  }

  settled(): number {
    this.#settle();
    return Math.floor(this.#monotonic() + this.#settledOffset);
  }

  /** Monotonic time, for `record`. */
  start(): number {
    return this.#monotonic();
  }

  /** Records a reading, and when it was asked for. */
  record(millis: number, askedAt: number): void {
    const receivedAt = this.#monotonic();
    const errorMillis = (receivedAt - askedAt) / 2 + 1;
    const offset = millis - (askedAt + receivedAt) / 2;
    const knownErrorMillis = this.#errorMillis + (receivedAt - this.#seenAt) * drift;
    const isContradiction = Math.abs(offset - this.#offset) > errorMillis + knownErrorMillis;
    if (!isContradiction && errorMillis >= knownErrorMillis) return;
    const isFirst = this.#errorMillis === Infinity;
    this.#settle();
    this.#offset = offset;
    this.#errorMillis = errorMillis;
    this.#seenAt = receivedAt;
    if (isFirst || offset - this.#settledOffset <= toleranceMillis) {
      this.#settledOffset = offset;
      this.#jumpedAt = undefined;
    } else if (isContradiction || this.#jumpedAt === undefined) {
      this.#jumpedAt = receivedAt;
    }
  }

  #settle(): void {
    if (this.#jumpedAt === undefined || this.#monotonic() - this.#jumpedAt < settleMillis) return;
    this.#settledOffset = this.#offset;
    this.#jumpedAt = undefined;
  }
}
