import { performance } from 'node:perf_hooks';

import { type Logger, pino } from 'pino';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

import type { Config } from '../settings/config.ts';
import { createMetricsServer } from '../http/observe/metrics-server.ts';
import { backlog, listenForConnections, listenOn } from './listen.ts';
import { inBackground, within } from '../platform/background.ts';
import { Callers } from '../platform/callers/index.ts';
import { LogDestination } from '../platform/http/index.ts';
import { type CounterRequest, type DayCounter, HostedCounters, type UsageTable } from '../platform/quotas/index.ts';
import { shownError } from '../platform/shown-error.ts';
import { type Child, type Handlers, Primary } from '../platform/workers/index.ts';
import { createDelivery, type DeliveryProcess } from './delivery-process.ts';
import type { ChildRole } from './first-signals.ts';
import { drainMillis } from './drain-time.ts';
import { exit, exitOnUncaughtErrors, maxFlushMillis, notify, onFirstSignal } from './service-process.ts';
import { checkServer } from '../database/start/check-server.ts';
import type { Bound } from '../http/observe/bounds.ts';
import { maxWaitingConnections, warningsOfDescriptors } from '../settings/setting-warnings.ts';
import { welcome } from './welcome.ts';

/** After the time that workers have for the drain: then they are killed, and the log has the rest of a second. */
const killMillis = 500;
const lastFlushMillis = 900;

/** Starts so many workers, and does for them what they do together. */
export async function startPrimary(config: Config, count: number): Promise<void> {
  const log = new LogDestination();
  const logger = pino({ level: config.logLevel, serializers: { err: (error: unknown) => shownError(error) } }, log);
  const metrics = new PrimaryMetrics(() => primary.serving);
  log.onDrop(() => metrics.droppedLogLines.inc());
  const delivery = createDelivery(config, log, () => metrics.droppedLogLines.inc());
  const primary = createPrimary(config, count, { log, logger, metrics, delivery });
  for (const warning of warningsOfDescriptors(config)) notify(warning);
  // With the words that one process has for them; the workers only start when they are right.
  if (config.databaseUrl !== undefined) await checkServer(config.databaseUrl, notify);
  const address = await listenForConnections((options) => primary.listen(options), config.host, config.port);
  exitOnUncaughtErrors((error, origin) => logger.fatal({ err: error, origin }, 'uncaught error of the primary'), log);
  onFirstSignal((signal) => {
    logger.info({ signal }, 'draining');
    inBackground(stop(signal, { primary, delivery, log }, drainMillis(config)));
  });
  await serveMetrics(config, primary, logger);
  await primary.start(address);
  delivery?.start(logger);
  process.stderr.write(welcome(address, config, undefined));
}

interface PrimaryParts {
  readonly log: LogDestination;
  readonly logger: Logger;
  readonly metrics: PrimaryMetrics;
  /** Undefined while webhooks are off. */
  readonly delivery: DeliveryProcess | undefined;
}

function createPrimary(config: Config, count: number, { log, logger, metrics, delivery }: PrimaryParts): Primary {
  const quotas = new QuotasOfWorkers(config, logger);
  return new Primary({
    count,
    arguments: ['worker' satisfies ChildRole, String(count)],
    connections: {
      maxWaiting: maxWaitingConnections(backlog),
      maxOfWorker: Math.ceil(config.maxConnections / count),
      onRefusal: () => metrics.refusals.inc({ bound: 'connections' satisfies Bound }),
    },
    handlersFor: (worker) => ({
      ...quotas.handlersFor(worker),
      deliverer: (request) => delivery?.ask(...(request as [string, unknown])),
    }),
    onLines: (lines) => log.forward(lines),
    onCutLine: () => metrics.droppedLogLines.inc(),
    onHung: ({ id: worker }) => logger.error({ worker }, "a worker doesn't answer: it is killed"),
    onNoProcess: (error, restartMillis) =>
      logger.error({ err: error, restartMillis }, 'a worker could not be started: it is tried again'),
    onEnd: ({ id: worker }, { code, signal, failure, restartMillis }) => {
      quotas.forget(worker);
      if (restartMillis === undefined) return;
      metrics.restarts.inc();
      const reason = failure?.reason;
      logger.error({ worker, code, signal, reason, restartMillis }, 'a worker has ended: another one is started');
    },
    otherMetrics: async () => ({
      primary: await metrics.registry.getMetricsAsJSON(),
      ...(delivery && { deliverer: await delivery.metrics() }),
    }),
  });
}

/** Exits with 0, also when nobody reads the log. */
async function stop(
  signal: NodeJS.Signals,
  { primary, delivery, log }: { primary: Primary; delivery: DeliveryProcess | undefined; log: LogDestination },
  millis: number,
): Promise<void> {
  const endsAt = performance.now() + millis + lastFlushMillis;
  const left = (): number => Math.max(0, endsAt - performance.now());
  await Promise.all([primary.stop(signal, millis + killMillis), delivery?.stop()]);
  await within(Math.min(maxFlushMillis, left()), Promise.all([primary.forwarded(), delivery?.forwarded()]));
  await exit(0, log, left());
}

async function serveMetrics({ host, metricsPort }: Config, primary: Primary, logger: Logger): Promise<void> {
  if (metricsPort === undefined) return;
  const server = createMetricsServer({ text: () => primary.metrics() }, new Callers(), () => undefined);
  logger.info({ url: await listenOn(server, host, metricsPort, 'METRICS_PORT') }, 'metrics');
}

type Asked = Pick<Child, 'id' | 'ask'>;

/** The counters of all workers, which count here, and whose usage one of them saves. */
export class QuotasOfWorkers {
  readonly #counters: HostedCounters;
  /** The workers whose database is open, by their ids. */
  readonly #savers = new Map<string, Asked>();

  constructor({ banRules: rules }: Config, logger: Pick<Logger, 'warn'>) {
    const ask = (name: string, value: unknown): Promise<unknown> => {
      const [saver] = this.#savers.values();
      return saver?.ask(name, value) ?? Promise.reject(new Error('No worker has opened the database.'));
    };
    const table: UsageTable = {
      loadDays: async (openedAfter) => (await ask('load days', openedAfter)) as DayCounter[],
      save: async (usages) => {
        await ask('save usage', usages);
      },
    };
    const onSaveFailure = (error: unknown): void => logger.warn({ err: error }, 'usage is not saved yet');
    this.#counters = new HostedCounters({ rules, table, onSaveFailure });
  }

  handlersFor(worker: Asked): Handlers {
    const counters = this.#counters;
    return {
      decide: (request) => counters.decide(request as CounterRequest),
      'offer table': (clockOffset) => {
        this.#savers.set(worker.id, worker);
        counters.setClock(clockOffset as number);
        return counters.start();
      },
      'set clock': (clockOffset) => counters.setClock(clockOffset as number),
      'save usage now': () => counters.saveUsage(),
      'withdraw table': async () => {
        await counters.saveUsage();
        this.#savers.delete(worker.id);
      },
    };
  }

  forget(worker: string): void {
    this.#savers.delete(worker);
  }
}

class PrimaryMetrics {
  readonly registry = new Registry();
  readonly restarts = this.#counter('worker_restarts_total', 'Workers that have ended and been replaced.');
  readonly droppedLogLines = this.#counter(
    'log_lines_dropped_total',
    'Log lines dropped because standard output was not read.',
  );

  readonly refusals = new Counter({
    name: 'petstore_refusals_total',
    help: 'Requests, responses and connections beyond a bound.',
    labelNames: ['bound'],
    registers: [this.registry],
  });

  constructor(serving: () => number) {
    collectDefaultMetrics({ register: this.registry });
    const gauge: Gauge = new Gauge({
      name: 'petstore_workers',
      help: 'Workers that listen.',
      registers: [this.registry],
      collect: () => gauge.set(serving()),
    });
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name: `petstore_${name}`, help, registers: [this.registry] });
  }
}
