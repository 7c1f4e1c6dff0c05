import { setPriority } from 'node:os';

import { watchClock } from '../database/clock-watch.ts';
import { connectDatabase } from '../database/database.ts';
import { Metrics } from '../http/observe/metrics.ts';
import { createLog } from '../http/observe/request-log.ts';
import { webhookEvents } from '../http/observe/webhook-events.ts';
import type { Id } from '../domain/id.ts';
import { onBackgroundFailure, within } from '../platform/background.ts';
import { Accounts, Callers } from '../platform/callers/index.ts';
import { embeddedPostgresAddress } from '../platform/embedded/index.ts';
import { LogDestination } from '../platform/http/index.ts';
import type { ParentConnection } from '../platform/workers/index.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { Webhooks } from '../webhooks/webhooks.ts';
import { startChild } from './child-process.ts';
import { drainMillis } from './drain-time.ts';
import { exit, exitOnUncaughtErrors } from './service-process.ts';

/** One reads the log while the other one leases and saves. */
const poolSize = 2;
/** Where they share a core, those that serve go first. */
const priority = 5;

/** Starts the process that delivers webhooks, and serves nobody. */
export function startDeliverer(): void {
  startChild(open);
}

async function open(parent: ParentConnection): Promise<void> {
  setPriority(priority);
  const config = readConfig();
  const destination = new LogDestination();
  const log = createLog(config.logLevel, config.logAddresses, destination);
  const metrics = new Metrics();
  destination.onDrop(() => metrics.droppedLogLines.inc());
  exitOnUncaughtErrors((error, origin) => log.fatal({ err: error, origin }, 'uncaught error'), destination);
  onBackgroundFailure((error) => log.error({ err: error }, 'work that nobody waits for has failed'));
  const holderId = String(await parent.ask('holder id'));
  const webhooks = await connect(config);
  metrics.watchWebhooks(webhooks);
  parent.handle('send test', (id) => webhooks.sendTest(id as Id));
  parent.handle('apply changes', () => webhooks.applyChanges());
  parent.handle('apply rotation', () => webhooks.applyRotation());
  parent.handle('endpoints', () => webhooks.figures.endpoints);
  parent.handle('metrics', () => metrics.values());
  webhooks.start({ holderId, ...webhookEvents(log, metrics) });
  await parent.ready();
  parent.onStop(() => {
    within(drainMillis(config), webhooks.stop()).then(
      () => exit(0, destination),
      () => process.exit(1),
    );
  });
}

/** On the embedded database it is a guest of the service's engine. */
async function connect(config: Config) {
  const { databaseUrl, dataDir, restPrefix: prefix, webhooks: settings } = config;
  const accounts = new Accounts();
  const callers = new Callers(accounts);
  const database = await connectDatabase({
    accounts,
    location: databaseUrl ?? embeddedPostgresAddress(dataDir),
    isGuest: databaseUrl === undefined,
    poolSize: databaseUrl === undefined ? 1 : poolSize,
  });
  const read = (): Promise<void> => database.readClock(callers.service('clock'));
  await read();
  watchClock(database.clock, { read, onDifference: () => undefined, onAgreement: () => undefined });
  const caller = callers.service('webhooks');
  return new Webhooks({
    stores: database.stores.for(caller),
    leases: database.webhookLeases(caller),
    settings,
    prefix,
  });
}
