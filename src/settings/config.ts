import { readFileSync } from 'node:fs';

import { parseRedisUrl } from '../platform/quotas/index.ts';
import { databaseVariables, withDatabaseVariables } from './database-variables.ts';
import { type Environment, SettingReader } from './setting-reader.ts';
import {
  durationWithin,
  hostsWithPorts,
  networks,
  origins,
  ports,
  proxies,
  restPrefix,
  workerCount,
} from './setting-values.ts';
import { warningsOfNames } from './setting-warnings.ts';

/** An invalid setting. Its message names every wrong variable, its value, and what would be right. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The settings, checked. Durations are in seconds. */
export type Config = ReturnType<typeof readConfig>;

/** Reads the settings from environment variables; an empty one counts as unset. Throws ConfigError. */
export function readConfig(environment: Environment = process.env) {
  const settings = new SettingReader(environment);
  const config = {
    ...processSettings(settings),
    ...databaseSettings(settings, environment),
    ...clientSettings(settings),
    ...logSettings(settings),
    webhooks: webhookSettings(settings),
    graphql: graphqlSettings(settings),
  };
  checkTogether(config, settings);
  const { problems, names } = settings;
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  const present = Object.keys(environment).filter((name) => environment[name]);
  return Object.freeze({ ...config, /** For people. */ warnings: warningsOfNames(present, names) });
}

function processSettings(settings: SettingReader) {
  return {
    port: settings.integer('PORT', 4000, 0, 65_535),
    host: settings.value('HOST', '127.0.0.1', (text) => text, 'a host name or an address'),
    metricsPort: settings.text('METRICS_PORT') ? settings.integer('METRICS_PORT', 0, 0, 65_535) : undefined,
    workers: settings.value('WORKERS', '1', workerCount, 'auto, or a whole number from 1 to 64'),
    maxConnections: settings.integer('MAX_CONNECTIONS', 10_000, 1, 1_000_000),
    maxStreams: settings.integer('MAX_STREAMS', 2_000, 1, 1_000_000),
    drainDelaySeconds: settings.duration('DRAIN_DELAY', '0s'),
    drainTimeoutSeconds: settings.duration('DRAIN_TIMEOUT', '30s'),
  };
}

function databaseSettings(settings: SettingReader, environment: Environment) {
  return {
    databaseUrl: settings.url('DATABASE_URL', (text) => withDatabaseVariables(text, environment)),
    databasePoolSize: settings.integer('DATABASE_POOL', 10, 1, 1000),
    databaseReplicas: settings.value(
      'DATABASE_REPLICAS',
      '',
      hostsWithPorts,
      'a list of up to 16 standbys, each once and with its port, such as h2:5432,[fd00::3]:5432: the user, the database, TLS and the parameters are those of DATABASE_URL',
    ),
    dataDir: settings.value('DATA_DIR', '.data', (text) => text, 'a directory'),
    withDemoStore: settings.either('DEMO', 'on', ['on', 'off']),
    redisUrl: settings.url('REDIS_URL', (text) => {
      parseRedisUrl(text);
      return text;
    }),
    eventsRetentionSeconds: settings.value(
      'EVENTS_RETENTION',
      '7d',
      durationWithin(86_400, 30 * 86_400),
      'a duration from 1d to 30d, such as 7d or 48h',
    ),
  };
}

function clientSettings(settings: SettingReader) {
  return {
    adminApiKey: adminApiKey(settings),
    banRules: Object.freeze({
      banAfter: settings.integer('BAN_AFTER', 100, 0, 10_000),
      banForSeconds: settings.value(
        'BAN_FOR',
        '15m',
        durationWithin(1, 86_400),
        'a duration from 1s to 24h, such as 90s or 15m',
      ),
    }),
    trustProxy: settings.value(
      'TRUST_PROXY',
      'false',
      proxies,
      'false, a number of proxies from 0 to 100, or a list of addresses such as 10.0.0.1,fd00::/8',
    ),
    corsOrigins: settings.value(
      'CORS_ORIGINS',
      '',
      origins,
      'a list of origins such as https://shop.example,http://localhost:3000, or * for all',
    ),
    restPrefix: settings.value(
      'REST_PREFIX',
      '',
      restPrefix,
      'a path such as /v1 that begins with none of the pages (/docs, /graphiql, …) and has no / at its end',
    ),
  };
}

function logSettings(settings: SettingReader) {
  return {
    logLevel: settings.oneOf('LOG_LEVEL', 'info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    logAddresses: settings.oneOf('LOG_ADDRESSES', 'full', ['full', 'network', 'off']),
    keepsRequests: settings.either('REQUEST_LOG', 'on', ['on', 'off']),
  };
}

function webhookSettings(settings: SettingReader) {
  const keys = signingKeys(settings);
  const path = settings.text('NODE_EXTRA_CA_CERTS');
  return Object.freeze({
    signingKeys: keys,
    certificates: keys.length === 0 ? undefined : extraCertificates(settings, path),
    allow: settings.value('WEBHOOK_ALLOW', '', networks, 'a list of networks such as 10.1.0.0/16,fd00::/8'),
    ports: settings.value('WEBHOOK_PORTS', '', ports, 'a list of ports such as 8443,9443'),
  });
}

function graphqlSettings(settings: SettingReader) {
  return Object.freeze({
    introspection: settings.either('GRAPHQL_INTROSPECTION', 'true', ['true', 'false']),
    maxDepth: settings.integer('GRAPHQL_MAX_DEPTH', 15, 1, 1000),
    maxComplexity: settings.integer('GRAPHQL_MAX_COMPLEXITY', 5000, 1, 1_000_000_000),
    maxAliases: settings.integer('GRAPHQL_MAX_ALIASES', 50, 1, 1_000_000),
    maxFields: settings.integer('GRAPHQL_MAX_FIELDS', 1000, 1, 1_000_000),
    maxTokens: settings.integer('GRAPHQL_MAX_TOKENS', 2000, 1, 1_000_000),
    documentsPath: settings.text('GRAPHQL_DOCUMENTS'),
    documentsOnly: settings.either('GRAPHQL_DOCUMENTS_ONLY', 'false', ['true', 'false']),
    maxResponseBytes: settings.integer('GRAPHQL_MAX_RESPONSE_BYTES', 8 * 1024 * 1024, 1024, 256 * 1024 * 1024),
  });
}

type Together = ReturnType<typeof processSettings> &
  ReturnType<typeof databaseSettings> & {
    readonly graphql: ReturnType<typeof graphqlSettings>;
  };

/** What one setting asks of another. */
function checkTogether(config: Together, settings: SettingReader): void {
  const { port, metricsPort, workers, graphql, databasePoolSize } = config;
  const { problems } = settings;
  // 0 is a free port each time.
  if (port > 0 && port === metricsPort) {
    problems.push(`METRICS_PORT is "${metricsPort}", but must be another port than PORT.`);
  }
  if (graphql.documentsOnly && graphql.documentsPath === undefined) {
    problems.push('GRAPHQL_DOCUMENTS_ONLY is "true", but GRAPHQL_DOCUMENTS names no operations: set both.');
  }
  if (workers !== 'auto' && workers > 1 && settings.text('DATABASE_URL') === undefined) {
    problems.push(
      `WORKERS is "${workers}", but the embedded database has one process: set DATABASE_URL, or WORKERS to 1.`,
    );
  }
  if (settings.text('DATABASE_REPLICAS') !== undefined) checkReplicas(databasePoolSize, settings);
}

function checkReplicas(poolSize: number, settings: SettingReader): void {
  const { problems } = settings;
  if (settings.text('DATABASE_URL') === undefined) {
    problems.push(
      'DATABASE_REPLICAS is set, but the embedded database has no standbys: set DATABASE_URL to their primary, or unset DATABASE_REPLICAS.',
    );
  }
  if (poolSize === 1) {
    problems.push('DATABASE_POOL is "1", but must be 2 or more with DATABASE_REPLICAS: short reads share connections.');
  }
}

/** The message never repeats the value. Other characters may not survive in a header. */
function adminApiKey(settings: SettingReader): string | undefined {
  const text = settings.text('ADMIN_API_KEY');
  if (text !== undefined && !/^[\x21-\x7e]{32,}$/.test(text))
    settings.problems.push('ADMIN_API_KEY must be at least 32 printable ASCII characters without spaces.');
  return text;
}

const signingKeyBytes = 32;

/** As PEM. Node itself reads them only where the variable is set before it starts, not from `--env-file`. */
function extraCertificates(settings: SettingReader, path: string | undefined): string | undefined {
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    settings.problems.push(
      `NODE_EXTRA_CA_CERTS is ${JSON.stringify(path)}, but must be a file of certificates that can be read: ${String((error as NodeJS.ErrnoException).code)}.`,
    );
    return undefined;
  }
}

/** Two while the key is changed, the new one first; none while webhooks are off. The message never repeats the value. */
function signingKeys(settings: SettingReader): readonly Buffer[] {
  const keys =
    settings
      .text('WEBHOOK_SIGNING_KEY')
      ?.split(',')
      .map((each) => keyBytes(each.trim())) ?? [];
  if (keys.length > 2 || keys.some((key) => key.length < signingKeyBytes))
    settings.problems.push(
      `WEBHOOK_SIGNING_KEY must be at least ${signingKeyBytes} bytes in base64 or hex, or two such keys with a comma between them: \`npm run -s webhooks -- secret\` makes one.`,
    );
  return keys;
}

/** Empty for what is neither hex nor base64. */
function keyBytes(text: string): Buffer {
  if (/^(?:[\da-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[\w+/-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
}

/** The variables of this process that hold for connections to a server where DATABASE_URL leaves something out. */
export function setDatabaseVariables(): string[] {
  return databaseVariables.filter((name) => process.env[name]);
}
