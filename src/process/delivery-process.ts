import { randomUUID } from 'node:crypto';

import type { LogDestination } from '../platform/http/index.ts';
import type { Config } from '../settings/config.ts';
import { type ChildOutput, Children, type ProcessMetrics, SummedMetrics } from '../platform/workers/index.ts';
import type { Deliverer } from '../webhooks/remote-webhooks.ts';
import { drainMillis } from './drain-time.ts';
import type { ChildRole } from './first-signals.ts';

/** What receivers send can't take more memory than this: of V8's old objects, which are a third of all. */
const maxHeapMegabytes = 128;
/** Of each half of the space for new objects: at rest it takes 80 MB in all, and nobody waits for its collections. */
const newHeapMegabytes = 2;

interface ErrorLog {
  error(figures: object, message: string): void;
}

export interface DeliveryProcessOptions extends ChildOutput {
  /** How long it may take to end. */
  readonly stopMillis: number;
}

/** The process that delivers webhooks, as the process sees it that has started it: the service's, or the primary. */
export class DeliveryProcess implements Deliverer {
  readonly #children: Children;
  readonly #metrics = new SummedMetrics();
  readonly #stopMillis: number;
  #log: ErrorLog | undefined;
  #stopping: Promise<void> | undefined;

  constructor({ stopMillis, ...output }: DeliveryProcessOptions) {
    this.#stopMillis = stopMillis;
    // One that takes the place of another goes on with its leases.
    const holderId = randomUUID();
    this.#children = new Children({
      ...output,
      arguments: ['deliverer' satisfies ChildRole],
      execArgv: [`--max-old-space-size=${maxHeapMegabytes}`, `--max-semi-space-size=${newHeapMegabytes}`],
      handlersFor: () => ({ 'holder id': () => holderId }),
      onReady: () => undefined,
      onHung: () => this.#log?.error({}, "the process that delivers webhooks doesn't answer: it is killed"),
      onNoProcess: (error, restartMillis) =>
        this.#log?.error({ err: error, restartMillis }, 'the process that delivers webhooks could not be started'),
      onEnd: ({ id }, { code, signal, failure, restartMillis }) => {
        this.#metrics.end(id);
        if (restartMillis === undefined) return;
        const reason = failure?.reason;
        this.#log?.error(
          { code, signal, reason, restartMillis },
          'the process that delivers webhooks has ended: another one is started',
        );
      },
    });
  }

  /** Call it when the database has its tables. */
  start(log: ErrorLog): void {
    this.#log = log;
    this.#children.start();
  }

  async ask(name: string, value?: unknown): Promise<unknown> {
    const [child] = this.#children.ready;
    if (child === undefined) throw new Error('The process that delivers webhooks is not there.');
    return child.ask(name, value);
  }

  /** Never goes back when it is replaced. */
  async metrics(): Promise<ProcessMetrics> {
    const [child] = this.#children.ready;
    const values = await child?.ask('metrics').catch(() => undefined);
    if (child !== undefined && values !== undefined && this.#children.has(child.id))
      this.#metrics.record(child.id, values as ProcessMetrics);
    return (await this.#metrics.registry()).getMetricsAsJSON();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#children.stop('SIGTERM', this.#stopMillis);
    return this.#stopping;
  }

  forwarded(): Promise<void> {
    return this.#children.forwarded();
  }
}

/** Undefined while webhooks are off. Its lines are part of the log. */
export function createDelivery(
  config: Config,
  log: LogDestination,
  onCutLine: () => void = () => undefined,
): DeliveryProcess | undefined {
  if (config.webhooks.signingKeys.length === 0) return undefined;
  return new DeliveryProcess({
    onLines: (lines) => log.forward(lines),
    onCutLine,
    stopMillis: drainMillis(config),
  });
}
