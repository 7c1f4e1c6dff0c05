import { createApp, type App } from './app.ts';
import { readConfig, type Config } from './config.ts';

/** Errors that tell their whole story in one line; everything else is shown with where it came from. */
const plainErrors = new Set(['ConfigError', 'EmbeddedPostgresInUse']);

/** The system's and PostgreSQL's own words for an address, a database or a password that is of no use. */
const plainCodes =
  /^(?:EADDRINUSE|EADDRNOTAVAIL|EACCES|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|28...|3D...|57P0.|53...)$/;

async function start(): Promise<void> {
  const config = readConfig();
  const app = await createApp(config);
  stopOnSignals(app);
  dieOfUnforeseenErrors(app);
  app.onFatal((error) => {
    app.server.log.fatal({ err: error }, 'the embedded database has ended');
    process.exit(1);
  });
  const address = await app.server.listen({ port: config.port, host: config.host });
  process.stdout.write(welcome(address, config));
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

function welcome(address: string, config: Config): string {
  const query = '{ pets(first: 3) { edges { node { name status category { name } } } } }';
  const store = config.databaseUrl === undefined ? `in ${config.dataDir}` : 'on your PostgreSQL';
  return `
The store is open at ${address}, its data ${store}.

Look at it in a browser:

  ${address}/graphiql

or from a shell:

  curl ${address}/graphql -H 'content-type: application/json' \\
    -d '{"query":"${query}"}'

`;
}

function fail(error: unknown): never {
  process.stderr.write(`petstore-gateway can't start: ${explain(error)}\n`);
  process.exit(1);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // What the store tells clients isn't what whoever starts it has to know; nor are several addresses that all refuse.
  if (error.name === 'DomainError' && error.cause !== undefined) return explain(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return explain(error.errors[0]);
  const isPlain = plainErrors.has(error.name) || ('code' in error && plainCodes.test(String(error.code)));
  return isPlain ? error.message : (error.stack ?? error.message);
}

start().catch(fail);
