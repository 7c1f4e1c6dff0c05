import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

import type { App } from '../app.ts';
import type { AppOverrides } from '../app/base.ts';
import type { Config } from '../settings/config.ts';
import { explainFailure } from '../settings/failed-start.ts';
import type { LogDestination } from '../platform/http/index.ts';
import { plainText } from '../platform/shown-error.ts';
import type { DeliveryProcess } from './delivery-process.ts';
import { drainMillis } from './drain-time.ts';
import { exitBeforeStart, signals } from './first-signals.ts';

const uncaught = ['uncaughtException', 'unhandledRejection'] as const;

/** How long after the drain timeout usage may still be saved. */
const recordMillis = 200;

/** The timeout for flushing the last log lines. */
export const maxFlushMillis = 2_000;

/** The process before anything of it is there: a failure, also one that nobody catches, is explained. */
export function prepareProcess(onFailure: (error: unknown) => void): void {
  // A full disk, or a closed pipe: text for people is lost, and the service continues.
  process.stderr.on('error', () => undefined);
  // Node itself would print all members of an error.
  for (const event of uncaught) process.on(event, onFailure);
}

/** A sentence for people: stdout is for machines. */
export function notify(sentence: string): void {
  process.stderr.write(`${plainText(sentence)}\n`);
}

export function fail(error: unknown): never {
  process.stderr.write(`petstore-gateway can't start: ${explainFailure(error)}\n`);
  process.exit(1);
}

/** The service of a process, not listening yet. */
export interface Service {
  readonly app: App;
  /** Starts to listen, and returns the address. */
  readonly listen: () => Promise<string>;
  /** Drains and ends the process, because of a signal. */
  readonly stop: (signal: NodeJS.Signals) => void;
}

/** Opens the service. From then on an uncaught error ends the process after its log is written. */
export async function openService(config: Config, overrides: AppOverrides): Promise<Service> {
  const [{ createApp }, { createDelivery }, { LogDestination }] = await Promise.all([
    import('../app.ts'),
    import('./delivery-process.ts'),
    import('../platform/http/index.ts'),
  ]);
  const log = new LogDestination();
  const delivery = overrides.deliverer === undefined ? createDelivery(config, log) : undefined;
  const app = await createApp(config, {
    logStream: log,
    onNotice: notify,
    ...(delivery && { deliverer: delivery, delivererMetrics: () => delivery.metrics() }),
    ...overrides,
  });
  exitOnUncaughtErrors((error, origin) => app.server.log.fatal({ err: error, origin }, 'uncaught error'), log);
  app.onFatal((error) => {
    app.server.log.fatal({ err: error }, 'the embedded database has ended');
    failAnyway(log);
  });
  const listen = async (): Promise<string> => {
    const address = await app.listen();
    delivery?.start(app.server.log);
    return address;
  };
  return { app, listen, stop: (signal) => stop(signal, { app, delivery, log }, config) };
}

interface StoppedParts {
  readonly app: App;
  readonly delivery: DeliveryProcess | undefined;
  readonly log: LogDestination;
}

function stop(signal: NodeJS.Signals, { app, delivery, log }: StoppedParts, config: Config): void {
  app.server.log.info({ signal }, 'draining');
  const endsAt = performance.now() + drainMillis(config);
  const end = (code: number): Promise<never> => exit(code, log, Math.max(0, endsAt - performance.now()));
  // Requests aborted at the timeout may still be recorded; a stopped database never responds.
  const late = wait(endsAt + recordMillis - performance.now());
  const drained = app.drain().then(() => delivery?.forwarded());
  Promise.race([drained, late]).then(
    () => end(0),
    (error: unknown) => {
      app.server.log.fatal({ err: error }, 'shutdown failed');
      return end(1);
    },
  );
}

/** Calls the listener for the first signal. The second one ends the process at once. */
export function onFirstSignal(listener: (signal: NodeJS.Signals) => void): void {
  let isStopping = false;
  let isAsked = false;
  const receive = (signal: NodeJS.Signals): void => {
    // SIGHUP isn't counted: it comes beside another, and even before it.
    if (isAsked && signal !== 'SIGHUP') process.exit(1);
    isAsked ||= signal !== 'SIGHUP';
    if (isStopping) return;
    isStopping = true;
    listener(signal);
  };
  // In this order: without a listener in between, Node forgets a signal that has come during this tick.
  for (const signal of signals) process.on(signal, receive).off(signal, exitBeforeStart);
}

/** Exits on uncaught errors: they may leave inconsistent state, so a new process is safer. */
export function exitOnUncaughtErrors(report: (error: unknown, origin: string) => void, log: LogDestination): void {
  const onError = (error: unknown, origin: string): void => {
    report(error, origin);
    failAnyway(log);
  };
  for (const event of uncaught) process.removeAllListeners(event);
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', (reason) => onError(reason, 'unhandledRejection'));
}

export async function exit(code: number, log: LogDestination, flushMillis = maxFlushMillis): Promise<never> {
  await log.close(Math.min(flushMillis, maxFlushMillis));
  process.exit(code);
}

/** Exits with 1, even when the last log lines can't be flushed. */
function failAnyway(log: LogDestination): void {
  exit(1, log).catch(() => process.exit(1));
}
