import cluster, { type Worker } from 'node:cluster';
import type { Duplex, Readable } from 'node:stream';

import { every, within } from '../background.ts';
import { Channel, type Handlers } from './channel.ts';
import { Leases } from './leases.ts';
import { closeLostConnections } from './lost-connections.ts';
import { MessagePipe, pipeDescriptor } from './message-pipe.ts';
import { type ProcessMetrics, SummedMetrics } from './summed-metrics.ts';
import { forwardLines } from './whole-lines.ts';

/** How often the primary says that it is alive, and expects the same of its workers. */
const beatMillis = 500;
const maxQuietBeats = 20;
/** Of a worker that doesn't listen yet: it loads its modules. */
const maxQuietStart = 120;

const firstRestartMillis = 200;
const maxRestartMillis = 5_000;
/** A worker that has listened for so long has started well. */
const steadyMillis = 1_000;

/** So many ends within a minute before a worker has listened end the start. */
const maxFailedStarts = 5;
const failedStartsMillis = 60_000;

/** The other workers of a start are waited for. */
const othersMillis = 10_000;
/** Of a worker that is asked for its metrics. */
const metricsMillis = 1_000;

/** A worker, as its primary sees it. */
export interface WorkerHandle {
  readonly id: string;
  ask(name: string, value?: unknown): Promise<unknown>;
}

/** How a worker has ended, and when the next one is started; undefined where none is. */
interface WorkerEnd {
  readonly worker: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly restartMillis: number | undefined;
}

export interface PrimaryOptions {
  readonly count: number;
  /** Added to the environment of the workers. */
  readonly environment: Readonly<Record<string, string>>;
  /** By which a worker knows that it is one: it has no other arguments. */
  readonly argument: string;
  /** The questions that a worker may ask. */
  readonly handlersFor: (worker: WorkerHandle) => Handlers;
  /** Takes whole lines of a worker's standard output. */
  readonly onLines: (lines: Buffer) => Promise<void>;
  /** A line of a worker that has been killed is cut off. */
  readonly onCutLine: () => void;
  readonly onEnd: (end: WorkerEnd) => void;
  /** A worker hasn't said anything for ten seconds, or a minute before it listens, and is killed. */
  readonly onHung: (worker: string) => void;
  /** Its own metrics. */
  readonly ownMetrics: () => Promise<ProcessMetrics>;
}

interface RunningWorker extends WorkerHandle {
  readonly worker: Worker;
  readonly channel: Channel;
  readonly pipe: MessagePipe;
  quietBeats: number;
  listensSince?: number;
  /** Why it hasn't started, as it says. */
  reason?: string;
}

/**
 * Starts workers, replaces those that end, and ends them. It serves nobody: `node:cluster` hands connections to the
 * workers in turn.
 */
export class Primary {
  readonly #options: PrimaryOptions;
  readonly #running = new Map<string, RunningWorker>();
  readonly #forwarding = new Set<Promise<void>>();
  readonly #leases = new Leases();
  readonly #metrics = new SummedMetrics();
  readonly #firstListening = Promise.withResolvers<string>();
  readonly #allListening = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #failedStarts: number[] = [];
  #hasListened = false;
  #restartMillis = firstRestartMillis;
  #stop: NodeJS.Signals | undefined;

  constructor(options: PrimaryOptions) {
    this.#options = options;
  }

  /** How many workers listen. */
  get listening(): number {
    return [...this.#running.values()].filter(({ listensSince }) => listensSince !== undefined).length;
  }

  /** Resolves with the address when the workers listen. Rejects when none can start, with the reason. */
  async start(): Promise<string> {
    const { argument, count } = this.#options;
    cluster.setupPrimary({ args: [argument], stdio: ['ignore', 'pipe', 'inherit', 'ipc', 'pipe'] });
    every(beatMillis, () => this.#beat()).ref();
    this.#fork();
    // The first worker migrates the database, and says what is wrong with the settings: once instead of several times.
    const address = await this.#firstListening.promise;
    for (let others = count - 1; others > 0 && this.#stop === undefined; others -= 1) this.#fork();
    await within(othersMillis, this.#allListening.promise);
    return address;
  }

  /** The metrics of all processes. */
  async metrics(): Promise<string> {
    const asking = [...this.#running.values()].map(async ({ id, channel }) => {
      const metrics = await channel.ask('metrics').catch(() => undefined);
      if (metrics !== undefined && this.#running.has(id)) this.#record(id, metrics);
    });
    await within(metricsMillis, Promise.all(asking));
    this.#record('primary', await this.#options.ownMetrics());
    return (await this.#metrics.registry()).metrics();
  }

  /** Ends all workers because of a signal; those that take longer are killed. Resolves when all have ended. */
  async stop(signal: NodeJS.Signals, maxMillis: number): Promise<void> {
    this.#stop = signal;
    const late = setTimeout(() => {
      for (const { worker } of this.#running.values()) worker.process.kill('SIGKILL');
    }, maxMillis);
    for (const { pipe } of this.#running.values()) pipe.send({ stop: signal });
    if (this.#running.size === 0) this.#ended.resolve();
    await this.#ended.promise;
    clearTimeout(late);
    await Promise.all(this.#forwarding);
  }

  #record(worker: string, metrics: unknown): void {
    this.#metrics.record(worker, metrics as ProcessMetrics);
  }

  #fork(): void {
    const { environment, handlersFor, onLines, onCutLine } = this.#options;
    const worker = cluster.fork(environment);
    closeLostConnections(worker);
    const id = String(worker.id);
    const pipe = new MessagePipe(worker.process.stdio[pipeDescriptor] as Duplex, (message) => {
      running.quietBeats = 0;
      channel.receive(message);
    });
    const handle: WorkerHandle = { id, ask: (name, value) => channel.ask(name, value) };
    const handlers = { ...handlersFor(handle), ...this.#handlersFor(worker) };
    const channel = new Channel((message) => pipe.send(message), handlers);
    const running: RunningWorker = { ...handle, worker, channel, pipe, quietBeats: 0 };
    this.#running.set(id, running);
    const forwarding = forwardLines(worker.process.stdout as Readable, onLines, onCutLine)
      .catch(() => undefined)
      .finally(() => this.#forwarding.delete(forwarding));
    this.#forwarding.add(forwarding);
    worker.once('exit', (code: number | null, signal: string | null) => this.#onExit(running, code, signal));
    worker.on('error', () => {
      // The system has no room for another process, which so has no exit either.
      if (worker.process.pid === undefined) this.#onExit(running, null, null);
    });
  }

  #handlersFor(worker: Worker): Handlers {
    const id = String(worker.id);
    return {
      listening: (address) => this.#onListening(id, String(address)),
      failed: (reason) => {
        const running = this.#running.get(id);
        if (running !== undefined) running.reason = String(reason);
      },
      lease: (value) => this.#leases.take(worker.id, ...(value as [string, string, number])),
      release: (value) => this.#leases.release(worker.id, ...(value as [string, string])),
      // In this order on Node's channel: connections that have been handed over, then this.
      'stop listening': () => {
        worker.disconnect();
      },
      'tell metrics': (metrics) => this.#record(id, metrics),
      'all metrics': () => this.metrics(),
    };
  }

  #onListening(id: string, address: string): void {
    const running = this.#running.get(id);
    if (running !== undefined) running.listensSince = performance.now();
    this.#hasListened = true;
    this.#firstListening.resolve(address);
    if (this.listening === this.#options.count) this.#allListening.resolve();
  }

  #onExit(ended: RunningWorker, code: number | null, signal: string | null): void {
    const { id, worker, channel, listensSince, reason } = ended;
    this.#running.delete(id);
    channel.close(new Error(`Worker ${id} has ended.`));
    this.#leases.releaseAll(worker.id);
    this.#metrics.end(id);
    const now = performance.now();
    if (listensSince !== undefined && now - listensSince >= steadyMillis) this.#restartMillis = firstRestartMillis;
    const hasFailed = this.#hasFailed(now);
    const restartMillis = this.#stop !== undefined || hasFailed ? undefined : this.#restartMillis;
    this.#options.onEnd({ worker: id, code, signal, restartMillis });
    if (hasFailed) this.#firstListening.reject(new Error(reason ?? `a worker has ended with ${signal ?? code}`));
    if (this.#stop !== undefined && this.#running.size === 0) this.#ended.resolve();
    if (restartMillis === undefined) return;
    this.#restartMillis = Math.min(maxRestartMillis, 2 * restartMillis);
    setTimeout(() => this.#stop ?? this.#fork(), restartMillis);
  }

  /** Whether this end of a worker ends the start. */
  #hasFailed(now: number): boolean {
    if (this.#hasListened) return false;
    this.#failedStarts.push(now);
    const [oldest = now] = this.#failedStarts.slice(-maxFailedStarts);
    return this.#failedStarts.length >= maxFailedStarts && now - oldest < failedStartsMillis;
  }

  #beat(): void {
    for (const running of this.#running.values()) {
      running.quietBeats += 1;
      if (running.quietBeats > (running.listensSince === undefined ? maxQuietStart : maxQuietBeats)) {
        this.#options.onHung(running.id);
        running.worker.process.kill('SIGKILL');
      } else {
        running.pipe.send(this.#stop === undefined ? {} : { stop: this.#stop });
      }
    }
  }
}
