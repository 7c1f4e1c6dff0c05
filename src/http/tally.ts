import { Counter, type Registry } from 'prom-client';

/** A counter with two labels. Prometheus' client, which hashes the labels of each increment, gets its values only when they are collected. */
export class Tally<First extends string, Second extends string | number> {
  readonly #counts = new Map<First, Map<Second, number>>();

  constructor(name: string, help: string, labelNames: readonly [string, string], registry: Registry) {
    const counts = this.#counts;
    const [first, second] = labelNames;
    const counter: Counter = new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect: () => {
        counter.reset();
        for (const [firstValue, bySecond] of counts) {
          for (const [secondValue, count] of bySecond) {
            counter.inc({ [first]: firstValue, [second]: secondValue }, count);
          }
        }
      },
    });
  }

  add(first: First, second: Second): void {
    let bySecond = this.#counts.get(first);
    if (bySecond === undefined) this.#counts.set(first, (bySecond = new Map<Second, number>()));
    bySecond.set(second, (bySecond.get(second) ?? 0) + 1);
  }
}
