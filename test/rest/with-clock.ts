import type { Stores } from '../../src/domain/stores.ts';

/** The same stores, also inside transactions, by another clock. */
export function withClock(stores: Stores, now: () => number): Stores {
  const clock = { now, settled: now };
  return new Proxy(stores, {
    get: (target, name) => {
      if (name === 'clock') return clock;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (work: (inside: Stores) => unknown) =>
        (value as typeof target.transaction).call(target, async (inside) => work(withClock(inside, now)));
    },
  });
}
