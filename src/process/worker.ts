import { type Config, readConfig } from '../settings/config.ts';
import { explainFailure } from '../settings/failed-start.ts';
import { inBackground, within } from '../platform/background.ts';
import { PrimaryConnection } from '../platform/workers/index.ts';
import { defaultLimits } from '../rest/collection-slots.ts';
import { openService, prepareProcess } from './service-process.ts';
import { sharedParts } from './shared-parts.ts';

/** For the reason of a failed start to reach the primary. */
const lastWordMillis = 1_000;

/** Prepared statements need more than one connection where others wait. */
const minPoolSize = 2;

/** Starts the service as one of several processes, whose primary ends it. */
export function startWorker(): void {
  const primary = new PrimaryConnection(() => process.exit(0));
  const onFailure = (error: unknown): void => {
    const told = within(
      lastWordMillis,
      primary.ask('failed', explainFailure(error)).catch(() => undefined),
    );
    inBackground(told.finally(() => process.exit(1)));
  };
  // A terminal, or systemd, sends a signal to all processes.
  prepareProcess(() => undefined, onFailure);
  open(primary).catch(onFailure);
}

async function open(primary: PrimaryConnection): Promise<void> {
  const settings = readConfig();
  const count = Number(settings.workers);
  const perProcess = Math.ceil(defaultLimits.perProcess / count);
  const shared = sharedParts(primary);
  const { app, stop } = await openService(partOf(settings, count), { shared, collectionLimits: { perProcess } });
  primary.onStop(stop);
  await primary.ask('listening', await app.listen());
}

/** The settings that are for all workers together, divided by them. */
function partOf(config: Config, count: number): Config {
  const part = (whole: number): number => Math.ceil(whole / count);
  return {
    ...config,
    databasePoolSize: Math.max(minPoolSize, part(config.databasePoolSize)),
    maxConnections: part(config.maxConnections),
    maxStreams: part(config.maxStreams),
  };
}
