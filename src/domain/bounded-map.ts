/**
 * A map that keeps what has been asked for lately, and forgets the rest when it is full.
 *
 * Two generations instead of one list in the order of use: an entry moves when it is asked for the first time in a while, not each time.
 */
export class BoundedMap<Key, Value> {
  readonly #keptWeight: number;
  readonly #weightOf: (key: Key, value: Value) => number;
  #recent = new Map<Key, Value>();
  #older = new Map<Key, Value>();
  /** Of what came into the recent ones, even if it has been deleted since. */
  #recentWeight = 0;

  /**
   * The last entries that weigh `keptWeight` together are surely kept, and never more than twice as much, nor a single one that is
   * heavier. Each weighs 1 when nothing else is said.
   */
  constructor(keptWeight: number, weightOf: (key: Key, value: Value) => number = () => 1) {
    this.#keptWeight = keptWeight;
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
      const weight = this.#weightOf(key, value);
      if (weight > this.#keptWeight) return;
      if (this.#recentWeight + weight > this.#keptWeight) {
        this.#older = this.#recent;
        this.#recent = new Map();
        this.#recentWeight = 0;
      }
      this.#recentWeight += weight;
    }
    this.#recent.set(key, value);
  }

  /** Changes an entry that is kept, without counting it as used. */
  replace(key: Key, value: Value): void {
    const generation = this.#recent.has(key) ? this.#recent : this.#older;
    if (generation.has(key)) generation.set(key, value);
  }

  /** Those asked for lately come first. An entry that moves or is deleted meanwhile may be missed. */
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
