import { type Config, readConfig } from '../settings/config.ts';
import type { ParentConnection } from '../platform/workers/index.ts';
import { defaultLimits } from '../rest/collection-slots.ts';
import { startChild } from './child-process.ts';
import { childCount } from './first-signals.ts';
import { openService } from './service-process.ts';
import { sharedParts } from './shared-parts.ts';

/** Prepared statements need more than one connection where others wait. */
const minPoolSize = 2;

/** Starts the service as one of several processes. */
export function startWorker(): void {
  startChild(open);
}

async function open(primary: ParentConnection): Promise<void> {
  const perProcess = Math.ceil(defaultLimits.perProcess / childCount);
  const shared = sharedParts(primary);
  const { listen, stop } = await openService(partOf(readConfig(), childCount), {
    shared,
    deliverer: shared.deliverer,
    collectionLimits: { perProcess },
  });
  primary.onStop(stop);
  await listen();
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
