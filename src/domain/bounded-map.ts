/** A map that, when it is full, forgets the entries that nobody has asked for the longest. */
export class BoundedMap<Key, Value> {
  readonly #maxWeight: number;
  readonly #weightOf: (key: Key) => number;
  readonly #entries = new Map<Key, Value>();
  #weight = 0;

  /** The weight of a map is that of its keys, and each weighs 1 when nothing else is said. */
  constructor(maxWeight: number, weightOf: (key: Key) => number = () => 1) {
    this.#maxWeight = maxWeight;
    this.#weightOf = weightOf;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  /** Keeps nothing that is heavier than the whole map may be. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.#weightOf(key);
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): boolean {
    const wasThere = this.#entries.delete(key);
    if (wasThere) this.#weight -= this.#weightOf(key);
    return wasThere;
  }
}
