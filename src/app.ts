import { join } from 'node:path';

import type { FastifyInstance } from 'fastify';

import type { Config } from './config.ts';
import { openDatabase } from './database/open.ts';
import { createServices } from './domain/services.ts';
import { createSchema } from './graphql/schema.ts';
import { createGraphQLServer } from './graphql/server.ts';
import { registerApi } from './http/api.ts';
import { drain } from './http/drain.ts';
import { registerExplorer } from './http/explorer.ts';
import { registerHealth } from './http/health.ts';
import { registerPages } from './http/pages.ts';
import { createServer } from './http/server.ts';

/** What tests look at or put in place of the real thing. */
export interface AppOverrides {
  readonly onStatement?: (sql: string) => void;
  readonly logStream?: { write(line: string): void };
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

/** Where the build puts it, as seen from the built program. */
const builtExplorer = join(import.meta.dirname, '../explorer');

/** Wires the service together: this page is the map of it. */
export async function createApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    poolSize: config.databasePoolSize,
    withDemoStore: config.withDemoStore,
    onStatement: overrides.onStatement,
  });
  const services = createServices(database.unitOfWork, database.reads);
  const server = createServer({ logLevel: config.logLevel, logStream: overrides.logStream });
  const graphql = await createGraphQLServer({
    schema: createSchema(),
    services,
    introspection: config.graphql.introspection,
    limits: config.graphql,
    log: server.log,
  });

  let isDraining = false;
  registerHealth(server, { checkReady: database.checkReady, isDraining: () => isDraining });
  registerPages(server);
  await registerExplorer(server, builtExplorer);
  await registerApi(server, [graphql.routes]);
  server.addHook('onClose', async () => {
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
