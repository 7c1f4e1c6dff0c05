import { watchClock } from '../database/clock-watch.ts';
import { openDatabase } from '../database/start/open.ts';
import { alsoRedact } from '../domain/access/redaction.ts';
import type { SchemaDeprecation } from '../graphql/deprecations.ts';
import { createSchema } from '../graphql/schema.ts';
import type { OnRefusal } from '../http/observe/bounds.ts';
import { databaseEvents } from '../http/observe/database-events.ts';
import { Metrics } from '../http/observe/metrics.ts';
import { createLog, type LogStream } from '../http/observe/request-log.ts';
import type { ServerLimits } from '../http/server.ts';
import { onBackgroundFailure } from '../platform/background.ts';
import { Accounts, Callers } from '../platform/callers/index.ts';
import type { EmbeddedPostgres } from '../platform/embedded/index.ts';
import type { StreamTerms } from '../platform/feed/index.ts';
import type { ProcessMetrics } from '../platform/workers/index.ts';
import type { SharedParts } from '../process/shared-parts.ts';
import type { CollectionLimits } from '../rest/collection-slots.ts';
import { readOperations } from '../rest/openapi/document.ts';
import type { Config } from '../settings/config.ts';
import type { Deliverer } from '../webhooks/remote-webhooks.ts';

/** Parts that `main` has started already, or that tests observe or replace. */
export interface AppOverrides {
  /** The engine of the embedded database; without one it is started here. */
  readonly embedded?: Promise<EmbeddedPostgres> | undefined;
  /** In a worker, whose primary serves the metrics at their own port. */
  readonly shared?: SharedParts | undefined;
  /** Delivers webhooks where they are on; without one this process does. */
  readonly deliverer?: Deliverer | undefined;
  /** Its metrics, where they are part of this process's page. */
  readonly delivererMetrics?: (() => Promise<ProcessMetrics>) | undefined;
  readonly onStatement?: (sql: string) => void;
  /** Receives a sentence for people when the start has to wait, or goes on without Redis. */
  readonly onNotice?: (sentence: string) => void;
  readonly logStream?: LogStream;
  readonly collectionLimits?: Partial<CollectionLimits>;
  readonly httpLimits?: Partial<ServerLimits>;
  readonly streamTerms?: Partial<StreamTerms>;
  readonly deprecations?: readonly SchemaDeprecation[];
  /** Servers that the names of webhook endpoints are asked of, instead of the system's. */
  readonly nameServers?: readonly string[];
}

export type Base = Awaited<ReturnType<typeof openBase>>;

/** Log, metrics, callers and the database. */
export async function openBase(config: Config, overrides: AppOverrides) {
  if (config.adminApiKey !== undefined) alsoRedact(config.adminApiKey);
  const log = createLog(config.logLevel, config.logAddresses, overrides.logStream);
  // On a port of their own they are for operators.
  const metrics = new Metrics({ hidesSchema: !config.graphql.introspection && config.metricsPort === undefined });
  overrides.logStream?.onDrop?.(() => metrics.droppedLogLines.inc());
  const onRefusal: OnRefusal = (bound) => metrics.refusals.inc({ bound });
  const { onServerChange, onRead, onReplica, ...clockEvents } = databaseEvents(log, metrics);
  const { databaseReplicas: hosts } = config;
  const accounts = new Accounts();
  const callers = new Callers(accounts, overrides.httpLimits?.tickMillis);
  const opening = openDatabase({
    accounts,
    url: config.databaseUrl,
    dataDir: config.dataDir,
    embedded: overrides.embedded,
    poolSize: config.databasePoolSize,
    // Nothing of it runs where none are named.
    replicas: hosts.length === 0 ? undefined : { hosts, onRead, onReplica },
    withDemoStore: config.withDemoStore,
    onStatement: overrides.onStatement,
    onRefusal: () => onRefusal('database_connections'),
    onWait: overrides.onNotice,
  });
  // Created while the database opens.
  const schema = createSchema(overrides.deprecations);
  const operations = readOperations();
  const database = await opening;
  const stopReporting = onBackgroundFailure((error) => {
    log.error({ err: error }, 'work that no request waits for has failed');
  });
  database.onServerChange(onServerChange);
  const clock = watchClock(database.clock, {
    read: () => database.readClock(callers.service('clock')),
    ...clockEvents,
  });
  return {
    config,
    overrides,
    log,
    metrics,
    onRefusal,
    accounts,
    callers,
    schema,
    operations,
    database,
    stopReporting,
    clock,
  };
}

/** What `/readyz?verbose` says from then on. */
export async function logWarnings({ database, callers, log }: Base): Promise<void> {
  const { warnings } = await database.checkReady(callers.service('start'));
  for (const warning of warnings) log.warn(warning);
}
