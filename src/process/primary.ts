import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { performance } from 'node:perf_hooks';

import { type Logger, pino } from 'pino';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

import type { Config } from '../settings/config.ts';
import { createMetricsServer } from '../http/observe/metrics.ts';
import { listenFailure, listenOn } from './listen.ts';
import { inBackground } from '../platform/background.ts';
import { Callers } from '../platform/callers/index.ts';
import { LogDestination } from '../platform/http/index.ts';
import { type CounterQuestion, type DayCounter, HostedCounters, type UsageTable } from '../platform/quotas/index.ts';
import { shownError } from '../platform/shown-error.ts';
import { type Handlers, Primary, type WorkerHandle } from '../platform/workers/index.ts';
import { drainMillis, exit, exitOnUncaughtErrors, notify, onFirstSignal } from './service-process.ts';
import { warningsOfDescriptors } from '../settings/setting-warnings.ts';
import { welcome } from './welcome.ts';

/** After the time that workers have for the drain: then they are killed, and the log has the rest of a second. */
const killMillis = 500;
const lastFlushMillis = 900;

/** Starts so many workers, and does for them what they do together. */
export async function startPrimary(config: Config, count: number): Promise<void> {
  const { host, port, metricsPort, logLevel: level } = config;
  const log = new LogDestination();
  const logger = pino({ level, serializers: { err: (error: unknown) => shownError(error) } }, log);
  const metrics = new PrimaryMetrics(() => primary.listening);
  log.onDrop(() => metrics.droppedLogLines.inc());
  const quotas = new QuotasOfWorkers(config, logger);
  const primary = new Primary({
    count,
    argument: 'worker',
    environment: { WORKERS: String(count), PORT: String(port === 0 ? await freePort(host) : port) },
    handlersFor: (worker) => quotas.handlersFor(worker),
    onLines: (lines) => log.forward(lines),
    onCutLine: () => metrics.droppedLogLines.inc(),
    onHung: (worker) => logger.error({ worker }, "a worker doesn't answer: it is killed"),
    onEnd: ({ worker, code, signal, restartMillis }) => {
      quotas.forget(worker);
      if (restartMillis === undefined) return;
      metrics.restarts.inc();
      logger.error({ worker, code, signal, restartMillis }, 'a worker has ended: another one is started');
    },
    ownMetrics: () => metrics.registry.getMetricsAsJSON(),
  });
  for (const warning of warningsOfDescriptors(config)) notify(warning);
  exitOnUncaughtErrors((error, origin) => logger.fatal({ err: error, origin }, 'uncaught error of the primary'), log);
  onFirstSignal((signal) => {
    const endsAt = performance.now() + drainMillis(config);
    logger.info({ signal }, 'draining');
    const ended = primary.stop(signal, drainMillis(config) + killMillis);
    inBackground(ended.then(() => exit(0, log, Math.max(0, endsAt + lastFlushMillis - performance.now()))));
  });
  if (metricsPort !== undefined) {
    const server = createMetricsServer({ text: () => primary.metrics() }, new Callers(), () => undefined);
    logger.info({ url: await listenOn(server, host, metricsPort, 'METRICS_PORT') }, 'metrics');
  }
  process.stderr.write(welcome(await primary.start(), config, undefined));
}

/** The counters of all workers, which count here, and whose usage one of them saves. */
export class QuotasOfWorkers {
  readonly #counters: HostedCounters;
  /** The workers whose database is open, by their ids. */
  readonly #savers = new Map<string, WorkerHandle>();

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

  handlersFor(worker: WorkerHandle): Handlers {
    const counters = this.#counters;
    return {
      decide: (question) => counters.decide(question as CounterQuestion),
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

  constructor(listening: () => number) {
    collectDefaultMetrics({ register: this.registry });
    const gauge: Gauge = new Gauge({
      name: 'petstore_workers',
      help: 'Workers that listen.',
      registers: [this.registry],
      collect: () => gauge.set(listening()),
    });
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name: `petstore_${name}`, help, registers: [this.registry] });
  }
}

/** Which one is free is decided once: a worker that is replaced listens where the others do. */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  try {
    await once(server.listen(0, host), 'listening');
  } catch (error) {
    throw listenFailure(error, 'PORT', host, 0);
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
