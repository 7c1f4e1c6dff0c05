import type { FastifyInstance } from 'fastify';

import type { Config } from './config.ts';
import { openDatabase } from './database/open.ts';
import { IdempotencyService } from './domain/idempotency/idempotency.service.ts';
import { createServices } from './domain/services.ts';
import { createSchema } from './graphql/schema.ts';
import { createGraphQLServer } from './graphql/server.ts';
import { registerApi } from './http/api.ts';
import { drain } from './http/drain.ts';
import { registerHealth } from './http/health.ts';
import { registerPages } from './http/pages.ts';
import { createServer } from './http/server.ts';
import { registerDocs } from './rest/docs/docs.routes.ts';
import { createRestRoutes, type RestOptions } from './rest/routes.ts';
import { defaultStreamLimits, type StreamLimits } from './rest/stream-places.ts';

/** How often the answers that are too old to be replayed are cleared away. */
const clearEveryMillis = 10 * 60 * 1000;

/** What tests look at or put in place of the real thing. */
export interface AppOverrides {
  readonly onStatement?: (sql: string) => void;
  readonly logStream?: { write(line: string): void };
  readonly onDeprecatedCall?: RestOptions['onDeprecatedCall'];
  readonly streamLimits?: Partial<StreamLimits>;
}

/** The whole service, not listening yet. */
export interface App {
  readonly server: FastifyInstance;
  /** Turns `/readyz` to 503, finishes what is under way, and closes everything. */
  drain(): Promise<void>;
  close(): Promise<void>;
  /** Calls the listener when the service can't go on. */
  onFatal(listener: (error: Error) => void): void;
}

/** Wires the service together: this page is the map of it. */
export async function createApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    poolSize: config.databasePoolSize,
    withDemoStore: config.withDemoStore,
    onStatement: overrides.onStatement,
  });
  const services = createServices(database.unitOfWork, database.reads, database.insertsIn());
  const server = createServer({ logLevel: config.logLevel, logStream: overrides.logStream });
  const graphql = await createGraphQLServer({
    schema: createSchema(),
    services,
    introspection: config.graphql.introspection,
    limits: config.graphql,
    log: server.log,
  });
  const idempotency = new IdempotencyService(database.unitOfWork);
  const rest = createRestRoutes({
    prefix: config.restPrefix,
    services,
    servicesIn: (unitOfWork) => createServices(unitOfWork, database.reads, database.insertsIn(unitOfWork)),
    idempotency,
    streamLimits: { ...defaultStreamLimits, ...overrides.streamLimits },
    onDeprecatedCall: overrides.onDeprecatedCall ?? (() => undefined),
  });

  let isDraining = false;
  registerHealth(server, { checkReady: database.checkReady, isDraining: () => isDraining });
  registerPages(server);
  registerDocs(server, { restPrefix: config.restPrefix });
  await registerApi(server, [graphql.routes, rest]);
  const clearing = setInterval(() => {
    idempotency.clearOld().catch((error: unknown) => server.log.warn({ err: error }, 'old records are not cleared'));
  }, clearEveryMillis);
  server.addHook('onClose', async () => {
    clearInterval(clearing);
    await graphql.stop();
    await database.close();
  });
  await server.ready();

  return {
    server,
    drain: () => {
      isDraining = true;
      return drain(server, { delaySeconds: config.drainDelaySeconds, timeoutSeconds: config.drainTimeoutSeconds });
    },
    close: () => server.close(),
    onFatal: database.onExit,
  };
}
