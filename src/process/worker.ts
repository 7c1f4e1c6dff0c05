import { type Config, readConfig } from '../settings/config.ts';
import { failureOf } from '../settings/failed-start.ts';
import { inBackground, within } from '../platform/background.ts';
import { ParentConnection } from '../platform/workers/index.ts';
import { defaultLimits } from '../rest/collection-slots.ts';
import { childCount } from './first-signals.ts';
import { limitHeap } from './heap.ts';
import { openService, prepareProcess } from './service-process.ts';
import { sharedParts } from './shared-parts.ts';

/** For the reason of a failed start to reach the primary. */
const lastWordMillis = 1_000;

/** Prepared statements need more than one connection where others wait. */
const minPoolSize = 2;

/** Starts the service as one of several processes, whose primary ends it. */
export function startWorker(): void {
  limitHeap();
  const primary = new ParentConnection(() => process.exit(0));
  const onFailure = (error: unknown): void => {
    const told = within(
      lastWordMillis,
      primary.failed(failureOf(error)).catch(() => undefined),
    );
    inBackground(told.finally(() => process.exit(1)));
  };
  prepareProcess(onFailure);
  open(primary).catch(onFailure);
}

async function open(primary: ParentConnection): Promise<void> {
  const perProcess = Math.ceil(defaultLimits.perProcess / childCount);
  const shared = sharedParts(primary);
  const { app, stop } = await openService(partOf(readConfig(), childCount), {
    shared,
    collectionLimits: { perProcess },
  });
  primary.onStop(stop);
  await app.listen();
}

/** The settings that are for all workers together, divided by them. */
function partOf(config: Config, count: number): Config {
  const part = (whole: number): number => Math.ceil(whole / count);
  return {
    ...config,
    databasePoolSize: Math.max(minPoolSize, part(config.databasePoolSize)),
    maxStreams: part(config.maxStreams),
  };
}
