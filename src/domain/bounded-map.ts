/**
 * A map that, when it is full, forgets the half that nobody has asked for lately.
 *
 * Two generations instead of one list in the order of use: an entry moves when it is asked for the first time in a while, not each time.
 */
export class BoundedMap<Key, Value> {
  readonly #maxWeight: number;
  readonly #weightOf: (key: Key) => number;
  #recent = new Map<Key, Value>();
  #older = new Map<Key, Value>();
  /** Of what came into the recent ones, even if it has been deleted since. */
  #recentWeight = 0;

  /** Nothing is heavier than `maxWeight` together, nor any entry than half of it; each weighs 1 when nothing else is said. */
  constructor(maxWeight: number, weightOf: (key: Key) => number = () => 1) {
    this.#maxWeight = maxWeight;
    this.#weightOf = weightOf;
  }

  has(key: Key): boolean {
    return this.#recent.has(key) || this.#older.has(key);
  }

  get(key: Key): Value | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  /** An entry that is too heavy is not kept. */
  set(key: Key, value: Value): void {
    this.#older.delete(key);
    if (!this.#recent.has(key)) {
      const half = this.#maxWeight / 2;
      const weight = this.#weightOf(key);
      if (weight > half) return;
      if (this.#recentWeight + weight > half) {
        this.#older = this.#recent;
        this.#recent = new Map();
        this.#recentWeight = 0;
      }
      this.#recentWeight += weight;
    }
    this.#recent.set(key, value);
  }

  delete(key: Key): boolean {
    const wasRecent = this.#recent.delete(key);
    return this.#older.delete(key) || wasRecent;
  }
}
