/** Probes of further addresses in the same second wait with everything else. */
const maxAddresses = 10_000;

/** Counts the probes of each address in the current second; nothing is remembered for longer. */
export class ProbeRate {
  readonly #maxOfAddress: number;
  readonly #counts = new Map<string, number>();
  #secondEndsAt = 0;

  constructor(maxOfAddress: number) {
    this.#maxOfAddress = maxOfAddress;
  }

  /** Whether the address may have one more in this second, which is then counted. */
  take(address: string, now: number): boolean {
    if (now >= this.#secondEndsAt) {
      this.#counts.clear();
      this.#secondEndsAt = now + 1_000;
    }
    const count = this.#counts.get(address) ?? (this.#counts.size < maxAddresses ? 0 : Infinity);
    if (count >= this.#maxOfAddress) return false;
    this.#counts.set(address, count + 1);
    return true;
  }
}
