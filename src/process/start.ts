import { type EmbeddedPostgres, isComplete, startEmbeddedPostgres } from '../platform/embedded/index.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { warningsOfDescriptors } from '../settings/setting-warnings.ts';
import { limitHeap } from './heap.ts';
import { buildPendingPages } from './pages-build.ts';
import { fail, notify, onFirstSignal, openService, prepareProcess } from './service-process.ts';
import { welcome } from './welcome.ts';

/** Starts what the settings say: one process that serves, or a primary with its workers. */
export function startService(): void {
  limitHeap();
  prepareProcess(fail);
  start().catch(fail);
}

async function start(): Promise<void> {
  const config = readConfig();
  for (const warning of config.warnings) notify(warning);
  const count = await workerCount(config);
  if (count > 1) {
    const { startPrimary } = await import('./primary.ts');
    await startPrimary(config, count);
  } else {
    await startAlone(config);
  }
  buildPendingPages();
}

/** Of the process that delivers webhooks. */
const delivererBytes = 80e6;

/** How many processes share the work. */
async function workerCount({ workers, databaseUrl, webhooks }: Config): Promise<number> {
  if (workers !== 'auto') return workers;
  if (databaseUrl === undefined) {
    notify('WORKERS is auto: one process, because the embedded database has one engine.');
    return 1;
  }
  const { countWorkers } = await import('../platform/workers/index.ts');
  const { count, reason } = countWorkers(webhooks.signingKeys.length > 0 ? delivererBytes : 0);
  notify(`WORKERS is auto: ${count === 1 ? 'one process' : `${count} workers`}, by ${reason}.`);
  return count;
}

async function startAlone(config: Config): Promise<void> {
  for (const warning of warningsOfDescriptors(config)) notify(warning);
  const { engine } = await startEngine(config);
  const { app, listen, stop } = await openService(config, { embedded: engine });
  onFirstSignal(stop);
  process.stderr.write(welcome(await listen(), config, app.demoKey));
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
