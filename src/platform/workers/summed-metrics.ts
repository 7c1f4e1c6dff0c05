import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** The metrics of one process, as `getMetricsAsJSON` of prom-client has them. */
export type ProcessMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Metrics of one event loop: a sum or mean of several would hide the one that is late. */
const ofOneLoop = /^nodejs_eventloop_/;
const counted = new Set<unknown>(['counter', 'histogram']);

/**
 * The metrics of several processes as one page. Counters and histograms never go back: what a worker that has ended
 * told last is kept. Each gauge is added up as its `aggregator` says.
 */
export class SummedMetrics {
  readonly #last = new Map<string, ProcessMetrics>();
  #ended: ProcessMetrics[] = [];
  #adding: Promise<void> = Promise.resolve();

  /** The figures of a process now. */
  record(worker: string, metrics: ProcessMetrics): void {
    this.#last.set(
      worker,
      metrics.map((metric) => labelled(metric, worker)),
    );
  }

  end(worker: string): void {
    const last = this.#last.get(worker) ?? [];
    this.#last.delete(worker);
    this.#ended.push(last.filter(({ name, type }) => counted.has(type) && !ofOneLoop.test(name)));
  }

  async registry(): Promise<Registry> {
    this.#adding = this.#adding.then(() => this.#addEnded());
    await this.#adding;
    return AggregatorRegistry.aggregate([...this.#last.values(), ...this.#ended]);
  }

  /** The metrics of workers that have ended since the last time become one with all before. */
  async #addEnded(): Promise<void> {
    const { length } = this.#ended;
    if (length < 2) return;
    const sum = await AggregatorRegistry.aggregate(this.#ended).getMetricsAsJSON();
    this.#ended = [sum, ...this.#ended.slice(length)];
  }
}

/** One page for processes of these names. */
export async function sumOf(processes: Readonly<Record<string, ProcessMetrics>>): Promise<string> {
  const sum = new SummedMetrics();
  for (const [name, metrics] of Object.entries(processes)) sum.record(name, metrics);
  return (await sum.registry()).metrics();
}

/** JSON has no NaN: a figure without a value is left out. */
function labelled(metric: ProcessMetrics[number], worker: string): ProcessMetrics[number] {
  const values = metric.values.filter(({ value }) => typeof value === 'number');
  if (!ofOneLoop.test(metric.name)) return { ...metric, values };
  for (const each of values) each.labels = { ...each.labels, worker };
  return { ...metric, aggregator: 'sum', values };
}
