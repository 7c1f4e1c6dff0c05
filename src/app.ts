import type { FastifyInstance } from 'fastify';

import { Accounts, Callers } from './platform/callers/index.ts';
import { every, inBackground, onBackgroundFailure } from './platform/background.ts';
import type { Config } from './settings/config.ts';
import { openCounters, QuotaService } from './platform/quotas/index.ts';
import type { EmbeddedPostgres } from './platform/embedded/index.ts';
import { explainLostRedis } from './settings/failed-start.ts';
import { listenOn } from './process/listen.ts';
import { openMetricsPages } from './process/metrics-pages.ts';
import { openWebhooks } from './process/open-webhooks.ts';
import { sequencerFailures, warningsOf } from './process/readiness-warnings.ts';
import type { ProcessMetrics } from './platform/workers/index.ts';
import type { SharedParts } from './process/shared-parts.ts';
import { openDatabase } from './database/start/open.ts';
import { AccessService, type AccessServiceOptions } from './domain/access/access.service.ts';
import { IdempotencyService } from './domain/idempotency/idempotency.service.ts';
import { BanRecorder } from './keys/ban-recorder.ts';
import { KeyChangeLog } from './keys/key-change-log.ts';
import { KeyDirectory } from './keys/key-directory.ts';
import { RequestRecorder } from './keys/request-recorder.ts';
import { type Principal, serviceItself } from './domain/access/principal.ts';
import { alsoRedact } from './domain/access/redaction.ts';
import { watchClock } from './database/clock-watch.ts';
import { RequestService } from './domain/requests/request.service.ts';
import { Sequencer, type StreamTerms } from './platform/feed/index.ts';
import { EventStreams } from './graphql/streams/event-streams.ts';
import type { SchemaDeprecation } from './graphql/deprecations.ts';
import { createSchema, printSortedSchema } from './graphql/schema.ts';
import { createGraphQLServer } from './graphql/pipeline/server.ts';
import { registerApi } from './http/api.ts';
import { drain } from './platform/http/index.ts';
import type { OnRefusal } from './http/observe/bounds.ts';
import { Authentication } from './http/authentication.ts';
import { knownClientOf } from './http/client.ts';
import { renderErrorPage } from './pages/error-page.ts';
import { accessEvents } from './http/observe/access-events.ts';
import { databaseEvents } from './http/observe/database-events.ts';
import { servedRequests } from './http/observe/served-requests.ts';
import { webhookEvents } from './http/observe/webhook-events.ts';
import { registerHealth } from './http/observe/health.ts';
import { Metrics } from './http/observe/metrics.ts';
import { registerSite } from './pages/site.routes.ts';
import { createLog, type LogStream } from './http/observe/request-log.ts';
import { createServer, type ServerLimits } from './http/server.ts';
import { readDocument, readOperations } from './rest/openapi/document.ts';
import { createRestRoutes } from './rest/routes.ts';
import type { Deliverer } from './webhooks/remote-webhooks.ts';
import { Webhooks } from './webhooks/webhooks.ts';
import { CollectionSlots, type CollectionLimits } from './rest/collection-slots.ts';

const deleteEveryMillis = 10 * 60 * 1000;

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
  onFatal(listener: (error: Error) => void): void;
}

/** Wires the service together, from the database up. */
export async function createApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const base = await openBase(config, overrides);
  await logWarnings(base);
  const access = await openAccess(base);
  const events = openEvents(base, access);
  const api = await createApi(base, access, events);
  return startApp(base, access, events, api);
}

type Base = Awaited<ReturnType<typeof openBase>>;
type Access = Awaited<ReturnType<typeof openAccess>>;
type Events = ReturnType<typeof openEvents>;
type Api = Awaited<ReturnType<typeof createApi>>;

/** Log, metrics, callers and the database. */
async function openBase(config: Config, overrides: AppOverrides) {
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
async function logWarnings({ database, callers, log }: Base): Promise<void> {
  const { warnings } = await database.checkReady(callers.service('start'));
  for (const warning of warnings) log.warn(warning);
}

/** Keys, their quotas and bans. */
async function openAccess({ config, overrides, log, metrics, callers, database }: Base) {
  const { shared, onNotice } = overrides;
  const observers = accessEvents(log, metrics);
  const now = (): number => database.clock.now();
  const counters = await openCounters({
    table: database.usage(callers.service('usage')),
    readPrefix: async () => `petstore:quota:${await database.readInstallation(callers.service('counters'))}`,
    redisUrl: config.redisUrl,
    host: shared?.counters,
    rules: config.banRules,
    now,
    ...observers,
  });
  if (counters.isShared() === false) onNotice?.(explainLostRedis(config.redisUrl, counters.lossReason()));
  const records = database.keyRecords(callers.service('key directory'));
  const keys = new KeyDirectory(records, { adminKey: config.adminApiKey, now, onUnreadable: observers.onUnreadable });
  const keyChanges = new KeyChangeLog({
    changes: database.keyChanges(callers.service('key change log')),
    ...observers,
  });
  await keyChanges.start();
  const onChange = (): Promise<void> => {
    keyChanges.read().catch((error: unknown) => log.warn({ err: error }, 'changes of api keys are not logged yet'));
    return keys.catchUp();
  };
  const banning = new AccessService(database.stores.for(callers.service('bans')), serviceItself, { onChange });
  const bans = new BanRecorder({ access: banning, ...observers });
  const options: AccessServiceOptions = {
    onChange,
    saveUsage: () => counters.saveUsage(),
    saveBan: (id) => bans.save(id),
  };
  const quota = new QuotaService(counters.store, (subject, ban) => bans.record(subject, ban));
  const authentication = new Authentication({
    keys,
    quota,
    onDecision: (plan, outcome) => metrics.decisions.inc({ plan, outcome }),
  });
  const recorder = new RequestRecorder({
    requests: database.stores.for(callers.service('requests')).requests,
    keepsEntries: config.keepsRequests,
    now,
    onFailure: (error) => log.warn({ err: error }, 'requests of keys are not saved yet'),
  });
  recorder.start();
  return { counters, keys, keyChanges, bans, options, quota, authentication, recorder };
}

/** The log of changes, its streams and webhooks. */
function openEvents({ config, overrides, log, metrics, onRefusal, callers, database }: Base, { keys, quota }: Access) {
  const streams = new EventStreams({
    keys,
    quota,
    now: () => database.clock.now(),
    stores: database.stores,
    callers,
    maxStreams: config.maxStreams,
    everywhere: overrides.shared?.slots,
    onRefusal,
    onFailure: (error) => log.error({ err: error }, 'streams cannot read or write events'),
    terms: overrides.streamTerms,
  });
  const sequencer = new Sequencer({
    moves: database.eventMoves(callers.service('event sequencer')),
    retentionSeconds: config.eventsRetentionSeconds,
    onMoved: () => streams.readNow(),
    onFailure: (what, error) => log.warn({ err: error }, sequencerFailures[what]),
  });
  sequencer.start();
  const { onSwitched, ...deliveryEvents } = webhookEvents(log, metrics);
  const webhooks = openWebhooks(config, overrides, database, callers.service('webhooks'));
  const webhookObserver = {
    onSwitched,
    onChange: async () => webhooks?.applyChanges(),
    onRotated: async () => webhooks?.applyRotation(),
  };
  return { streams, sequencer, webhooks, webhookObserver, deliveryEvents };
}

/** The server with both protocols; pages, health and metrics come when it starts. */
async function createApi(base: Base, access: Access, { streams, webhooks, webhookObserver }: Events) {
  const { config, overrides, log, metrics, onRefusal, accounts, callers, schema, operations, database } = base;
  const server = createServer({
    ...config,
    callers,
    log,
    logStream: overrides.logStream,
    limits: { maxConnections: config.maxConnections, ...overrides.httpLimits },
    onResponse: (request) => metrics.countRequest(request),
    onServed: servedRequests(access.recorder, config.logAddresses),
    renderErrorPage,
    knownClientOf: (request) => knownClientOf(request, access.keys),
    onRefusal,
  });
  const idempotency = new IdempotencyService();
  const graphql = await createGraphQLServer({
    accounts,
    schema,
    streams,
    stores: database.stores,
    services: { access: access.options, webhooks, webhookObserver },
    idempotency,
    ...config.graphql,
    limits: config.graphql,
    log,
    onRefusal,
    onErrors: (operation, codes) => metrics.countGraphQLErrors(operation, codes),
  });
  const collectionSlots = new CollectionSlots(accounts, onRefusal, overrides.collectionLimits, overrides.shared?.slots);
  const rest = createRestRoutes({
    operations,
    prefix: config.restPrefix,
    stores: database.stores,
    idempotency,
    collectionSlots,
    onDeprecatedCall: (operation, { principal }) => {
      const { plan = 'none' } = (principal as Principal | undefined) ?? {};
      metrics.deprecatedCalls.inc({ operation, plan });
    },
  });
  return { server, idempotency, graphql, rest, collectionSlots };
}

/** Registers the routes, and returns what starts and ends the service. */
async function startApp(base: Base, access: Access, events: Events, api: Api): Promise<App> {
  const { config, overrides, callers, schema, database } = base;
  const { server, graphql, rest } = api;
  let isDraining = false;
  watchParts(base, access, events, api);
  registerHealth(server, {
    checkReady: async () => {
      const findings = await database.checkReady(callers.service('readiness'));
      return {
        ...findings,
        replicas: database.replicaFigures(),
        warnings: [...findings.warnings, ...warningsOf(events)],
      };
    },
    isDraining: () => isDraining,
  });
  registerSite(server, config, readDocument(), () => printSortedSchema(schema));
  const metricsPages = openMetricsPages(server, { ...base, ...overrides });
  await registerApi(server, access.authentication, [graphql.routes, rest]);
  // When listening stops.
  server.addHook('preClose', () => events.streams.drain());
  if (overrides.shared !== undefined) {
    // Node's server waits for the connections that it has accepted itself.
    server.addHook('preClose', async () => {
      server.server.close();
      await server.connections.allClosed();
    });
  }
  closeWith(base, access, events, api, metricsPages);
  await server.ready();
  events.webhooks?.start(events.deliveryEvents);
  return {
    server,
    demoKey: database.demoKey,
    listen: async () => {
      await metricsPages.listen();
      if (overrides.shared === undefined) return listenOn(server, config.host, config.port, 'PORT');
      const address = await overrides.shared.listen(server.server);
      server.log.info(`Server listening at ${address}`);
      return address;
    },
    drain: () => {
      isDraining = true;
      events.streams.refuseOpenings();
      if (events.webhooks !== undefined) inBackground(events.webhooks.stop());
      const { drainDelaySeconds: delaySeconds, drainTimeoutSeconds: timeoutSeconds } = config;
      return drain(server, { delaySeconds, timeoutSeconds, stopHandingOver: overrides.shared?.stopHandingOver });
    },
    close: () => server.close(),
    onFatal: database.onExit,
  };
}

function watchParts({ metrics, database, clock }: Base, { counters }: Access, events: Events, api: Api): void {
  metrics.watch({
    pool: database.poolFigures,
    servers: database.serverFigures,
    replicas: database.replicaFigures,
    clock,
    events: events.sequencer,
    requestsUnderWay: () => api.server.connections.underWay,
    collections: () => api.collectionSlots.held,
    eventStreams: () => events.streams.count,
    isCountingShared: () => counters.isShared(),
  });
  if (events.webhooks instanceof Webhooks) metrics.watchWebhooks(events.webhooks);
}

/** What the service has opened is closed after its server, the database last. */
function closeWith(
  { log, callers, database, clock, stopReporting }: Base,
  { counters, bans, keyChanges, recorder }: Access,
  { sequencer, webhooks }: Events,
  { server, graphql, idempotency }: Api,
  metricsPages: { stop(): Promise<void> },
): void {
  const stores = database.stores.for(callers.service('expiry'));
  const deletion = every(deleteEveryMillis, () =>
    Promise.all([idempotency.deleteExpired(stores), new RequestService(stores).deleteOld()]).catch((error: unknown) =>
      log.warn({ err: error }, 'expired idempotency records, or requests of keys, are not deleted'),
    ),
  );
  server.addHook('onClose', async () => {
    clearInterval(deletion);
    clock.stop();
    await graphql.stop();
    await metricsPages.stop();
    await recorder.stop();
    await counters.close();
    await bans.flush();
    await webhooks?.stop();
    await keyChanges.stop();
    await sequencer.stop();
    await database.close();
    stopReporting();
  });
}
