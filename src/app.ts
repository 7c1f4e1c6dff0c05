import type { FastifyInstance } from 'fastify';

import { openAccess, type Access } from './app/access.ts';
import { type AppOverrides, type Base, logWarnings, openBase } from './app/base.ts';
import { openEvents, type Events } from './app/events.ts';
import { warningsOf } from './app/readiness-warnings.ts';
import type { Principal } from './domain/access/principal.ts';
import { IdempotencyService } from './domain/idempotency/idempotency.service.ts';
import { RequestService } from './domain/requests/request.service.ts';
import { createGraphQLServer } from './graphql/pipeline/server.ts';
import { printSortedSchema } from './graphql/schema.ts';
import { registerApi } from './http/api.ts';
import { knownClientOf } from './http/client.ts';
import { registerHealth } from './http/observe/health.ts';
import { servedRequests } from './http/observe/served-requests.ts';
import { createServer } from './http/server.ts';
import { renderErrorPage } from './pages/error-page.ts';
import { registerSite } from './pages/site.routes.ts';
import { every, inBackground } from './platform/background.ts';
import { drain } from './platform/http/index.ts';
import { listenOn } from './process/listen.ts';
import { openMetricsPages } from './process/metrics-pages.ts';
import { CollectionSlots } from './rest/collection-slots.ts';
import { readDocument } from './rest/openapi/document.ts';
import { createRestRoutes } from './rest/routes.ts';
import type { Config } from './settings/config.ts';
import { Webhooks } from './webhooks/webhooks.ts';

const deleteEveryMillis = 10 * 60 * 1000;

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

type Api = Awaited<ReturnType<typeof createApi>>;

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
