/**
 * A cache of bounded size that evicts the entries that were not used recently.
 *
 * Approximately least recently used: it has two maps instead of one list in the order of use, so that an entry moves on
 * its first use since the recent one was begun, not on each.
 *
 * Instead of `lru-cache`: there every `set` counts as a use, so that keys which are only read again, every 400 ms, would
 * never be evicted; it also allocates 2.8 MB for 100,000 entries before there is one (11.5).
 */
export class LruMap<Key, Value> {
  readonly #minWeight: number;
  readonly #weightOf: (key: Key, value: Value) => number;
  #recent = new Map<Key, Value>();
  #older = new Map<Key, Value>();
  /** The weight added to the recent map, deleted entries included. */
  #recentWeight = 0;

  /**
   * Holds the last used entries of `minWeight` together, and at most twice as much. An entry weighs 1 by default.
   */
  constructor(minWeight: number, weightOf: (key: Key, value: Value) => number = () => 1) {
    this.#minWeight = minWeight;
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

  /** An entry that is heavier than the minimum weight is not stored. */
  set(key: Key, value: Value): void {
    this.#older.delete(key);
    if (!this.#recent.has(key)) {
      const weight = this.#weightOf(key, value);
      if (weight > this.#minWeight) return;
      if (this.#recentWeight + weight > this.#minWeight) {
        this.#older = this.#recent;
        this.#recent = new Map();
        this.#recentWeight = 0;
      }
      this.#recentWeight += weight;
    }
    this.#recent.set(key, value);
  }

  /** Changes an entry that is stored, without counting it as used. */
  replace(key: Key, value: Value): void {
    const entries = this.#recent.has(key) ? this.#recent : this.#older;
    if (entries.has(key)) entries.set(key, value);
  }

  /** Recently used entries come first. An entry that moves or is deleted meanwhile may be missed. */
  *keys(): Generator<Key, void> {
    yield* this.#recent.keys();
    yield* this.#older.keys();
  }

  clear(): void {
    this.#recent.clear();
    this.#older.clear();
    this.#recentWeight = 0;
  }

  delete(key: Key): boolean {
    const wasRecent = this.#recent.delete(key);
    return this.#older.delete(key) || wasRecent;
  }
}
