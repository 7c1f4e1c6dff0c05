import { Counter, type Histogram, type Registry } from 'prom-client';

// prom-client (15.1.3) hashes the labels of each value. What every request counts is counted here instead, and read
// when it is collected.

/** A counter with two labels. */
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

interface Distribution {
  /** Of each bucket alone; the last one is for values above all bounds. */
  readonly counts: number[];
  sum: number;
}

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A histogram with one label. */
export class HistogramTally {
  readonly #name: string;
  readonly #labelName: string;
  readonly #bounds: readonly number[];
  readonly #distributions = new Map<string, Distribution>();

  /** A value belongs to the first of the bounds, in ascending order, that it doesn't exceed. */
  constructor(name: string, help: string, labelName: string, bounds: readonly number[], registry: Registry) {
    this.#name = name;
    this.#labelName = labelName;
    this.#bounds = bounds;
    // prom-client 15.1.3 uses no more of a metric; its `Histogram` can't be given counts.
    const metric = { name, get: async () => ({ name, help, type: 'histogram', values: [...this.#samples()] }) };
    registry.registerMetric(metric as unknown as Histogram);
  }

  add(label: string, value: number): void {
    let distribution = this.#distributions.get(label);
    if (distribution === undefined) {
      distribution = { counts: Array<number>(this.#bounds.length + 1).fill(0), sum: 0 };
      this.#distributions.set(label, distribution);
    }
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket += 1;
    (distribution.counts[bucket] as number) += 1;
    distribution.sum += value;
  }

  /** In Prometheus' form a bucket has all values up to its bound. */
  *#samples(): Generator<Sample> {
    for (const [label, { counts, sum }] of this.#distributions) {
      const labels = { [this.#labelName]: label };
      let total = 0;
      for (const [index, count] of counts.entries()) {
        total += count;
        yield {
          metricName: `${this.#name}_bucket`,
          labels: { le: this.#bounds[index] ?? '+Inf', ...labels },
          value: total,
        };
      }
      yield { metricName: `${this.#name}_sum`, labels, value: sum };
      yield { metricName: `${this.#name}_count`, labels, value: total };
    }
  }
}
