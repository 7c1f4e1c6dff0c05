import type { AddressInfo, ListenOptions } from 'node:net';

import { within } from '../background.ts';
import type { Handlers } from './channel.ts';
import { type Child, Children, type ChildEnd, type ChildrenOptions } from './children.ts';
import { ConnectionQueue, type ConnectionQueueOptions } from './connection-queue.ts';
import { SlotCounts } from './slot-counts.ts';
import { type ProcessMetrics, SummedMetrics } from './summed-metrics.ts';

/** So many ends in a row before a worker has listened end the start. */
const maxFailedStarts = 5;

/** The other workers of a start are waited for. */
const othersMillis = 10_000;
/** Of a worker that is asked for its metrics. */
const metricsMillis = 1_000;

export interface PrimaryOptions extends Omit<ChildrenOptions, 'onReady'> {
  readonly count: number;
  readonly connections: ConnectionQueueOptions;
  /** Those of processes that aren't workers, by their names. */
  readonly otherMetrics: () => Promise<Readonly<Record<string, ProcessMetrics>>>;
}

/** No worker can start: the message is the last one's reason, in words for people. */
class FailedWorkers extends Error {
  override readonly name = 'FailedWorkers';
}

/** The workers of a service, and what they have together. It serves nobody: it hands its connections to them. */
export class Primary {
  readonly #options: PrimaryOptions;
  readonly #workers: Children;
  readonly #connections: ConnectionQueue;
  readonly #slots = new SlotCounts();
  readonly #metrics = new SummedMetrics();
  readonly #firstReady = Promise.withResolvers<void>();
  readonly #allReady = Promise.withResolvers<void>();
  #failedStarts = 0;
  #address = '';

  constructor(options: PrimaryOptions) {
    this.#options = options;
    this.#connections = new ConnectionQueue(options.connections);
    this.#workers = new Children({
      ...options,
      handlersFor: (worker) => ({ ...options.handlersFor(worker), ...this.#handlersFor(worker) }),
      onReady: (worker) => this.#onReady(worker),
      onEnd: (worker, end) => this.#onEnd(worker, end),
    });
  }

  get serving(): number {
    return this.#workers.ready.length;
  }

  /** Listens, before there is a worker: connections wait for the first one. */
  async listen(options: ListenOptions): Promise<AddressInfo> {
    return this.#connections.listen(options);
  }

  /** Resolves when the workers serve at the address. Rejects when none can start, with the reason. */
  async start(address: string): Promise<void> {
    this.#address = address;
    this.#workers.start();
    // The first worker migrates the database: once instead of several times.
    await this.#firstReady.promise;
    for (let others = this.#options.count - 1; others > 0; others -= 1) this.#workers.start();
    await within(othersMillis, this.#allReady.promise);
  }

  async metrics(): Promise<string> {
    const asking = this.#workers.all.map(async (worker) => {
      const metrics = await worker.ask('metrics').catch(() => undefined);
      if (metrics !== undefined && this.#workers.has(worker.id)) this.#record(worker.id, metrics);
    });
    await within(metricsMillis, Promise.all(asking));
    for (const [name, values] of Object.entries(await this.#options.otherMetrics())) this.#record(name, values);
    return (await this.#metrics.registry()).metrics();
  }

  /** Ends all workers because of a signal; those that take longer are killed. Resolves when all have ended. */
  async stop(signal: NodeJS.Signals, maxMillis: number): Promise<void> {
    await this.#workers.stop(signal, maxMillis);
  }

  /** Resolves when what the workers had written before they ended has been taken. */
  forwarded(): Promise<void> {
    return this.#workers.forwarded();
  }

  #record(worker: string, metrics: unknown): void {
    this.#metrics.record(worker, metrics as ProcessMetrics);
  }

  #handlersFor({ id }: Child): Handlers {
    const worker = Number(id);
    return {
      address: () => this.#address,
      'take slot': (value) => this.#slots.take(worker, ...(value as [string, string, number])),
      'release slot': (value) => this.#slots.release(worker, ...(value as [string, string])),
      'stop listening': () => this.#connections.stopHandingTo(id),
      'report metrics': (metrics) => this.#record(id, metrics),
      'all metrics': () => this.metrics(),
    };
  }

  #onReady({ id, process }: Child): void {
    this.#connections.add(id, process);
    this.#firstReady.resolve();
    if (this.serving === this.#options.count) this.#allReady.resolve();
  }

  #onEnd(worker: Child, end: ChildEnd): void {
    this.#connections.remove(worker.id);
    this.#slots.releaseAll(Number(worker.id));
    this.#metrics.end(worker.id);
    this.#options.onEnd(worker, end);
    const { code, signal, failure, restartMillis } = end;
    // Without one they end because of a signal.
    if (restartMillis === undefined) return;
    this.#failedStarts = end.wasReady ? 0 : this.#failedStarts + 1;
    if (this.#failedStarts < maxFailedStarts && failure?.isFinal !== true) return;
    // Without effect once a worker has served.
    this.#firstReady.reject(new FailedWorkers(failure?.reason ?? `the first worker has ended with ${signal ?? code}`));
  }
}
