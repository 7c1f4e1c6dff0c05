import './node-version.ts';
import './foreign-variables.ts';

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

import type { App } from './app.ts';
import { readConfig, type Config } from './config.ts';
import { type EmbeddedPostgres, isComplete, startEmbeddedPostgres } from './platform/embedded/index.ts';
import { explainFailure } from './failed-start.ts';
import { limitHeap } from './heap.ts';
import type { LogDestination } from './platform/http/index.ts';
import { plainText } from './platform/shown-error.ts';
import { warningsOfDescriptors } from './setting-warnings.ts';

limitHeap();
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const uncaught = ['uncaughtException', 'unhandledRejection'] as const;
// Nothing to drain until the service is open. Without a listener, process 1 of a container would ignore the signal.
for (const signal of signals) process.on(signal, exitBeforeStart);
// A full disk, or a closed pipe: text for people is lost, and the service continues.
process.stderr.on('error', () => undefined);
// Node itself would print all members of an error.
for (const event of uncaught) process.on(event, fail);

async function start(): Promise<void> {
  const config = readConfig();
  for (const warning of [...config.warnings, ...warningsOfDescriptors(config)]) notify(warning);
  const { engine } = await startEngine(config);
  const [{ createApp }, { LogDestination }] = await Promise.all([
    import('./app.ts'),
    import('./platform/http/index.ts'),
  ]);
  const log = new LogDestination();
  const app = await createApp(config, {
    embedded: engine,
    logStream: log,
    onNotice: notify,
  });
  stopOnSignals(app, log, config);
  exitOnUncaughtErrors(app, log);
  app.onFatal((error) => {
    app.server.log.fatal({ err: error }, 'the embedded database has ended');
    exitAnyway(1, log);
  });
  const address = await app.listen();
  // Stdout is for machines.
  process.stderr.write(welcome(address, config, app.demoKey));
}

function notify(sentence: string): void {
  process.stderr.write(`${plainText(sentence)}\n`);
}

/** How long after the drain timeout usage may still be saved. */
const recordMillis = 200;

/** The timeout for flushing the last log lines. */
const maxFlushMillis = 2_000;

async function exit(code: number, log: LogDestination, flushMillis = maxFlushMillis): Promise<never> {
  await log.close(Math.min(flushMillis, maxFlushMillis));
  process.exit(code);
}

/** Exits even when the last log lines can't be flushed. */
function exitAnyway(code: number, log: LogDestination): void {
  exit(code, log).catch(() => process.exit(code));
}

/**
 * Before anything else is loaded: the engine, in its own thread, takes as long to start as all modules to load. Only a
 * database that is being made is waited for, because that takes more memory than anything later.
 */
async function startEngine({ databaseUrl, dataDir }: Config): Promise<{ engine?: Promise<EmbeddedPostgres> }> {
  if (databaseUrl !== undefined) return {};
  const isNew = !isComplete(dataDir);
  const engine = startEmbeddedPostgres(dataDir);
  // A failure is reported when the database is opened.
  engine.catch(() => undefined);
  if (isNew) await engine;
  return { engine };
}

function exitBeforeStart(): void {
  process.exit(0);
}

function stopOnSignals(app: App, log: LogDestination, config: Config): void {
  let isStopping = false;
  let isAsked = false;
  const stop = (signal: NodeJS.Signals): void => {
    // The second one ends the process at once. SIGHUP isn't counted: it comes beside another, and even before it.
    if (isAsked && signal !== 'SIGHUP') process.exit(1);
    isAsked ||= signal !== 'SIGHUP';
    if (isStopping) return;
    isStopping = true;
    app.server.log.info({ signal }, 'draining');
    const endsAt = performance.now() + (config.drainDelaySeconds + config.drainTimeoutSeconds) * 1000;
    const end = (code: number): Promise<never> => exit(code, log, Math.max(0, endsAt - performance.now()));
    // Requests aborted at the timeout may still be recorded; a stopped database never responds.
    const late = wait(endsAt + recordMillis - performance.now());
    Promise.race([app.drain(), late]).then(
      () => end(0),
      (error: unknown) => {
        app.server.log.fatal({ err: error }, 'shutdown failed');
        return end(1);
      },
    );
  };
  // In this order: without a listener in between, Node forgets a signal that has come during this tick.
  for (const signal of signals) process.on(signal, stop).off(signal, exitBeforeStart);
}

/** Exits on uncaught errors: they may leave inconsistent state, so a new process is safer. */
function exitOnUncaughtErrors(app: App, log: LogDestination): void {
  const onError = (error: unknown, origin: string): void => {
    app.server.log.fatal({ err: error, origin }, 'uncaught error');
    exitAnyway(1, log);
  };
  for (const event of uncaught) process.off(event, fail);
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', (reason) => onError(reason, 'unhandledRejection'));
}

/** An image has the program, but not what npm's scripts build it with. */
function keysCommand(): string {
  const canBuild = existsSync(join(import.meta.dirname, '../../.ci/build.mjs'));
  return canBuild ? 'npm run -s keys --' : 'node dist/src/cli/keys.js';
}

function welcome(address: string, { databaseUrl, dataDir }: Config, demoKey: string | undefined): string {
  const store = databaseUrl === undefined ? `in ${dataDir}` : 'on your PostgreSQL';
  const open = `\nThe store is open at ${address}, its data ${store}.\n`;
  if (demoKey === undefined) {
    return `${open}
Requests need a key. This makes one, with the settings that the service has:

  ${keysCommand()} create --name me --plan business

The explorer is at ${address}/graphiql

`;
  }
  const query = '{ pets(first: 3) { edges { node { name status category { name } } } } }';
  return `${open}
Try it, with the demo key:

  curl ${address}/graphql -H 'authorization: Bearer ${demoKey}' \\
    -H 'content-type: application/json' -d '{"query":"${query}"}'

Or in the explorer:

  ${address}/graphiql#key=${demoKey}

`;
}

function fail(error: unknown): never {
  process.stderr.write(`petstore-gateway can't start: ${explainFailure(error)}\n`);
  process.exit(1);
}

start().catch(fail);
