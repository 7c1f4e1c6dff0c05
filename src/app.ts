import type { FastifyInstance } from 'fastify';

import { Accounts, Callers } from './platform/callers/index.ts';
import { every, inBackground, onBackgroundFailure } from './platform/background.ts';
import type { Config } from './settings/config.ts';
import { openCounters, QuotaService } from './platform/quotas/index.ts';
import type { EmbeddedPostgres } from './platform/embedded/index.ts';
import { explainLostRedis } from './settings/failed-start.ts';
import { listenOn } from './process/listen.ts';
import type { SharedParts } from './process/shared-parts.ts';
import { openDatabase } from './database/start/open.ts';
import { AccessService, type AccessServiceOptions } from './domain/access/access.service.ts';
import { IdempotencyService } from './domain/idempotency/idempotency.service.ts';
import { BanRecorder } from './keys/ban-recorder.ts';
import { KeyChangeLog } from './keys/key-change-log.ts';
import { KeyDirectory } from './keys/key-directory.ts';
import type { Principal } from './domain/access/principal.ts';
import { alsoRedact } from './domain/access/redaction.ts';
import { watchClock } from './database/clock-watch.ts';
import { Sequencer, type StreamTerms } from './platform/feed/index.ts';
import { EventStreams } from './graphql/streams/event-streams.ts';
import { createSchema, printSortedSchema } from './graphql/schema.ts';
import { createGraphQLServer } from './graphql/pipeline/server.ts';
import { registerApi } from './http/api.ts';
import { drain } from './platform/http/index.ts';
import type { OnRefusal } from './http/observe/bounds.ts';
import { Authentication } from './http/authentication.ts';
import { knownClientOf } from './http/client.ts';
import { renderErrorPage } from './pages/error-page.ts';
import { accessEvents } from './http/observe/access-events.ts';
import { webhookEvents } from './http/observe/webhook-events.ts';
import { registerHealth } from './http/observe/health.ts';
import { createMetricsServer, Metrics, registerMetrics } from './http/observe/metrics.ts';
import { registerSite } from './pages/site.routes.ts';
import type { LogStream } from './http/observe/request-log.ts';
import { createServer, type ServerLimits } from './http/server.ts';
import { readDocument, readOperations } from './rest/openapi/document.ts';
import { createRestRoutes } from './rest/routes.ts';
import { openWebhooks } from './webhooks/webhooks.ts';
import { CollectionSlots, type CollectionLimits } from './rest/collection-slots.ts';

/** The interval at which expired idempotency records are deleted. */
const deleteEveryMillis = 10 * 60 * 1000;

/** Parts that `main` has started already, or that tests observe or replace. */
export interface AppOverrides {
  /** The engine of the embedded database; without one it is started here. */
  readonly embedded?: Promise<EmbeddedPostgres> | undefined;
  /** In a worker, whose primary serves the metrics at their own port. */
  readonly shared?: SharedParts | undefined;
  readonly onStatement?: (sql: string) => void;
  /** Receives a sentence for people when the start has to wait, or goes on without Redis. */
  readonly onNotice?: (sentence: string) => void;
  readonly logStream?: LogStream;
  readonly collectionLimits?: Partial<CollectionLimits>;
  readonly httpLimits?: Partial<ServerLimits>;
  readonly streamTerms?: Partial<StreamTerms>;
  /** Servers that the names of webhook endpoints are asked of, instead of the system's. */
  readonly nameServers?: readonly string[];
}

/** The whole service, not listening yet. */
export interface App {
  readonly server: FastifyInstance;
  /** The secret of the demo store's key, while it has one. */
  readonly demoKey: string | undefined;
  /** Starts to listen, and returns the address. */
  listen(): Promise<string>;
  /** Sets `/readyz` to 503, finishes requests under way, and closes everything. */
  drain(): Promise<void>;
  close(): Promise<void>;
  /** Calls the listener when the service can't go on. */
  onFatal(listener: (error: Error) => void): void;
}

const sequencerFailures = {
  move: 'changes are not moved into the log of events',
  maintain: 'the log of events drops no old days',
};

/** Wires the service together. */
export async function createApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { shared } = overrides;
  if (config.adminApiKey !== undefined) alsoRedact(config.adminApiKey);
  // On a port of their own they are for operators.
  const metrics = new Metrics({ hidesSchema: !config.graphql.introspection && config.metricsPort === undefined });
  overrides.logStream?.onDrop?.(() => metrics.droppedLogLines.inc());
  const onRefusal: OnRefusal = (bound) => metrics.refusals.inc({ bound });
  const accounts = new Accounts();
  const callers = new Callers(accounts, overrides.httpLimits?.tickMillis);
  const opening = openDatabase({
    accounts,
    url: config.databaseUrl,
    dataDir: config.dataDir,
    embedded: overrides.embedded,
    poolSize: config.databasePoolSize,
    withDemoStore: config.withDemoStore,
    onStatement: overrides.onStatement,
    onRefusal: () => onRefusal('database_connections'),
    onWait: overrides.onNotice,
  });
  // Created while the database opens.
  const schema = createSchema();
  const operations = readOperations();
  const database = await opening;
  const server = createServer({
    callers,
    logLevel: config.logLevel,
    logAddresses: config.logAddresses,
    logStream: overrides.logStream,
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    limits: { maxConnections: config.maxConnections, ...overrides.httpLimits },
    onResponse: (request) => metrics.countRequest(request),
    renderErrorPage,
    knownClientOf: (request) => knownClientOf(request, keys),
    onRefusal,
  });
  const stopReporting = onBackgroundFailure((error) => {
    server.log.error({ err: error }, 'work that no request waits for has failed');
  });
  const events = accessEvents(server.log, metrics);
  const now = (): number => database.clock.now();
  const clock = watchClock(database.clock, {
    read: () => database.readClock(callers.service('clock')),
    onDifference: (offsetSeconds) =>
      server.log.warn({ offsetSeconds }, "this machine's clock differs from that of the database"),
    onAgreement: () => server.log.info("this machine's clock is that of the database again"),
  });
  const counters = await openCounters({
    table: database.usage(callers.service('usage')),
    readPrefix: async () => `petstore:quota:${await database.readInstallation(callers.service('counters'))}`,
    redisUrl: config.redisUrl,
    host: shared?.counters,
    rules: config.banRules,
    now,
    ...events,
  });
  if (counters.isShared() === false) overrides.onNotice?.(explainLostRedis(config.redisUrl, counters.lossReason()));
  const { stores } = database;
  const accessOptions: AccessServiceOptions = {
    saveUsage: () => counters.saveUsage(),
    saveBan: (id) => bans.save(id),
    onChange: () => {
      keyChanges
        .read()
        .catch((error: unknown) => server.log.warn({ err: error }, 'changes of api keys are not logged yet'));
      return keys.catchUp();
    },
  };
  const bans = new BanRecorder({
    access: new AccessService(stores.for(callers.service('bans')), accessOptions),
    ...events,
  });
  const quota = new QuotaService(counters.store, (subject, ban) => bans.record(subject, ban));
  const records = database.keyRecords(callers.service('key directory'));
  const keys = new KeyDirectory(records, { adminKey: config.adminApiKey, now, onUnreadable: events.onUnreadable });
  const keyChanges = new KeyChangeLog({ changes: database.keyChanges(callers.service('key change log')), ...events });
  await keyChanges.start();
  const sequencer = new Sequencer({
    moves: database.eventMoves(callers.service('event sequencer')),
    retentionSeconds: config.eventsRetentionSeconds,
    onMoved: () => streams.readNow(),
    onFailure: (what, error) => server.log.warn({ err: error }, sequencerFailures[what]),
  });
  sequencer.start();
  database.onServerChange((change) => {
    metrics.failovers.inc();
    server.log.warn(change, 'the database is written to on another server');
  });
  const collectionSlots = new CollectionSlots(accounts, onRefusal, overrides.collectionLimits, shared?.leases);
  metrics.watch({
    pool: database.poolFigures,
    servers: database.serverFigures,
    clock,
    events: sequencer,
    requestsUnderWay: () => server.connections.underWay,
    collections: () => collectionSlots.held,
    eventStreams: () => streams.count,
    isCountingShared: () => counters.isShared(),
  });
  const authentication = new Authentication({
    keys,
    quota,
    onDecision: (plan, outcome) => metrics.decisions.inc({ plan, outcome }),
  });
  const idempotency = new IdempotencyService();
  const streams = new EventStreams({
    keys,
    quota,
    now,
    stores,
    callers,
    maxStreams: config.maxStreams,
    everywhere: shared?.leases,
    onRefusal,
    onFailure: (error) => server.log.error({ err: error }, 'streams cannot read or write events'),
    terms: overrides.streamTerms,
  });
  const { signingKeys, ...destinations } = config.webhooks;
  const { onSwitched, ...deliveryEvents } = webhookEvents(server.log, metrics);
  const webhooks = openWebhooks(signingKeys, {
    callers,
    stores: stores.for(callers.service('webhooks')),
    leases: database.webhookLeases(callers.service('webhooks')),
    destinations: { ...destinations, nameServers: overrides.nameServers },
    prefix: config.restPrefix,
    ...deliveryEvents,
  });
  if (webhooks !== undefined) metrics.watchWebhooks(webhooks);
  const graphql = await createGraphQLServer({
    accounts,
    schema,
    streams,
    stores,
    services: {
      access: accessOptions,
      webhooks,
      webhookObserver: { onSwitched, onChange: async () => webhooks?.heedChanges() },
    },
    idempotency,
    introspection: config.graphql.introspection,
    limits: config.graphql,
    documentsPath: config.graphql.documentsPath,
    documentsOnly: config.graphql.documentsOnly,
    log: server.log,
    onRefusal,
    onErrors: (operation, codes) => metrics.countGraphQLErrors(operation, codes),
  });
  const rest = createRestRoutes({
    operations,
    prefix: config.restPrefix,
    stores,
    idempotency,
    collectionSlots,
    onDeprecatedCall: (operation, { principal }) => {
      const { plan = 'none' } = (principal as Principal | undefined) ?? {};
      metrics.deprecatedCalls.inc({ operation, plan });
    },
  });

  let isDraining = false;
  registerHealth(server, {
    checkReady: () => database.checkReady(callers.service('readiness')),
    isDraining: () => isDraining,
  });
  registerSite(server, config, readDocument(), () => printSortedSchema(schema));
  const allMetrics = shared?.metricsOf(metrics);
  const metricsServer =
    config.metricsPort === undefined || shared !== undefined
      ? undefined
      : createMetricsServer(metrics, callers, onRefusal);
  if (config.metricsPort === undefined) registerMetrics(server, allMetrics ?? metrics);
  await registerApi(server, authentication, [graphql.routes, rest]);
  const deletion = every(deleteEveryMillis, () =>
    idempotency
      .deleteExpired(stores.for(callers.service('idempotency')))
      .catch((error: unknown) => server.log.warn({ err: error }, 'expired idempotency records are not deleted')),
  );
  // When listening stops.
  server.addHook('preClose', () => streams.drain());
  server.addHook('onClose', async () => {
    clearInterval(deletion);
    clock.stop();
    await graphql.stop();
    await metricsServer?.close();
    await allMetrics?.stop();
    await counters.close();
    await bans.flush();
    await webhooks?.stop();
    await keyChanges.stop();
    await sequencer.stop();
    await database.close();
    stopReporting();
  });
  await server.ready();
  webhooks?.start();

  return {
    server,
    demoKey: database.demoKey,
    listen: async () => {
      const { host, port, metricsPort = 0 } = config;
      if (metricsServer !== undefined) {
        server.log.info({ url: await listenOn(metricsServer, host, metricsPort, 'METRICS_PORT') }, 'metrics');
      }
      return listenOn(server, host, port, 'PORT');
    },
    drain: () => {
      isDraining = true;
      streams.refuseOpenings();
      if (webhooks !== undefined) inBackground(webhooks.stop());
      const { drainDelaySeconds: delaySeconds, drainTimeoutSeconds: timeoutSeconds } = config;
      return drain(server, { delaySeconds, timeoutSeconds, stopHandingOver: shared?.stopHandingOver });
    },
    close: () => server.close(),
    onFatal: database.onExit,
  };
}
