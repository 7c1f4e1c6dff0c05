import { setFlagsFromString } from 'node:v8';

import type { App } from './app.ts';
import { readConfig, type Config } from './config.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './database/embedded/embedded-postgres.ts';
import { explainFailure } from './database/failed-start.ts';

// V8 takes what is made for requests for long-lived when it sees some of it survive, and each request that it keeps then keeps the next.
setFlagsFromString('--no-allocation-site-pretenuring');

async function start(): Promise<void> {
  const config = readConfig();
  const embedded = startEngine(config);
  const { createApp } = await import('./app.ts');
  const app = await createApp(config, { embedded });
  stopOnSignals(app);
  dieOfUnforeseenErrors(app);
  app.onFatal((error) => {
    app.server.log.fatal({ err: error }, 'the embedded database has ended');
    process.exit(1);
  });
  const address = await app.listen();
  process.stdout.write(welcome(address, config, app.demoKey));
}

/** Before anything else is loaded: the engine, in its own thread, takes as long to start as all modules to load. */
function startEngine({ databaseUrl, dataDir }: Config): Promise<EmbeddedPostgres> | undefined {
  if (databaseUrl !== undefined) return undefined;
  const embedded = startEmbeddedPostgres(dataDir);
  // A failure is told when the database is opened.
  embedded.catch(() => undefined);
  return embedded;
}

function stopOnSignals(app: App): void {
  let isStopping = false;
  const stop = (signal: string): void => {
    // Who asks twice doesn't want to wait.
    if (isStopping) process.exit(1);
    isStopping = true;
    app.server.log.info({ signal }, 'draining');
    app.drain().then(
      () => process.exit(0),
      (error: unknown) => {
        app.server.log.fatal({ err: error }, 'the end was not a clean one');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** What nobody has caught may have left anything half done: better a new process than this one. */
function dieOfUnforeseenErrors(app: App): void {
  const die = (error: unknown, origin: string): void => {
    app.server.log.fatal({ err: error, origin }, 'unforeseen error');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', (reason) => die(reason, 'unhandledRejection'));
}

function welcome(address: string, { databaseUrl, dataDir }: Config, demoKey: string | undefined): string {
  const store = databaseUrl === undefined ? `in ${dataDir}` : 'on your PostgreSQL';
  const open = `\nThe store is open at ${address}, its data ${store}.\n`;
  if (demoKey === undefined) {
    return `${open}
Requests need a key. This makes one, while the service runs:

  npm run -s keys -- create --name me --plan business

The explorer is at ${address}/graphiql

`;
  }
  const query = '{ pets(first: 3) { edges { node { name status category { name } } } } }';
  return `${open}
Try it, with the demo key:

  curl ${address}/graphql -H 'authorization: Bearer ${demoKey}' \\
    -H 'content-type: application/json' -d '{"query":"${query}"}'

Or in the explorer:

  ${address}/graphiql#key=${demoKey}

`;
}

function fail(error: unknown): never {
  process.stderr.write(`petstore-gateway can't start: ${explainFailure(error)}\n`);
  process.exit(1);
}

start().catch(fail);
