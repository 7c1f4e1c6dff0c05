import { resolve } from 'node:path';

import { type Config, ConfigError, readConfig } from '../settings/config.ts';
import type { Environment } from '../settings/setting-reader.ts';
import { type DatabaseLocation, describeDatabase } from '../settings/database-url.ts';
import { FailedDatabase } from '../settings/failed-database.ts';
import type { OpenDatabaseOptions } from '../database/start/open.ts';
import { explainFailure } from '../settings/failed-start.ts';
import { holdsEmbeddedPostgres, startEmbeddedPostgres } from '../platform/embedded/index.ts';
import { plainText } from '../platform/shown-error.ts';
import { parseOptions } from './options.ts';

export async function run(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(explainFailure(error));
    process.exitCode = 1;
  }
}

/** The database of the settings as a command opens it: with one connection. */
export function databaseOptions({ databaseUrl: url, dataDir, withDemoStore }: Config): OpenDatabaseOptions {
  return { url, dataDir, mustExist: true, poolSize: 1, withDemoStore, onWait: notify };
}

/** Throws ConfigError without a database: one that was made here would be a store that nobody uses. */
export function readSettings(environment?: Environment): Config {
  const config = readConfig(environment);
  for (const warning of config.warnings) notify(warning);
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === undefined && !holdsEmbeddedPostgres(dataDir)) {
    throw new ConfigError(
      `DATABASE_URL is unset, and DATA_DIR (${resolve(dataDir)}) holds no embedded database: ` +
        'give this command the settings that the service has. Only a start of the service makes a database.',
    );
  }
  notify(
    databaseUrl === undefined
      ? `Database: the embedded one in ${resolve(dataDir)} (DATA_DIR)`
      : `Database: ${describeDatabase(databaseUrl)} (DATABASE_URL)`,
  );
  return config;
}

export function notify(sentence: string): void {
  console.error(plainText(sentence));
}

/** The database of the settings, for as long as the work takes: the embedded engine runs in this process. */
export async function onDatabase(
  { databaseUrl, dataDir }: Config,
  work: (location: DatabaseLocation) => Promise<void>,
): Promise<void> {
  const embedded = databaseUrl === undefined ? await startEmbeddedPostgres(dataDir, true) : undefined;
  try {
    await work((databaseUrl ?? embedded?.connection) as DatabaseLocation);
  } catch (error) {
    throw databaseUrl === undefined ? error : new FailedDatabase(databaseUrl, error);
  } finally {
    await embedded?.close();
  }
}

type OptionTypes = Readonly<Record<string, 'string' | 'boolean'>>;

type OptionValues<Types extends OptionTypes> = {
  readonly [Name in keyof Types]?: Types[Name] extends 'boolean' ? boolean : string;
};

/** Ends the process: with its usage for `--help`, with 2 for a wrong command line. */
export function parseCommandLine<const Types extends OptionTypes>(usage: string, types: Types): OptionValues<Types> {
  const options = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
  try {
    const { help, ...values } = parseOptions({ options: { ...options, help: { type: 'boolean' } } }).values;
    if (help !== true) return values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
  console.log(usage);
  process.exit(0);
}
