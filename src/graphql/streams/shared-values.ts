/** A value that several share, until each of them has released it. */
export interface SharedValue<Value> {
  readonly value: Value;
  readonly users: number;
  /** Call it once for each `acquire`. */
  readonly release: () => void;
}

export class SharedValues<Value> {
  readonly #values = new Map<string, SharedValue<Value>>();

  acquire(key: string, make: () => Value): SharedValue<Value> {
    const known = this.#values.get(key) as { users: number } & SharedValue<Value>;
    if (known !== undefined) {
      known.users += 1;
      return known;
    }
    const shared = {
      value: make(),
      users: 1,
      release: () => {
        shared.users -= 1;
        if (shared.users === 0) this.#values.delete(key);
      },
    };
    this.#values.set(key, shared);
    return shared;
  }
}
