import { isIP } from 'node:net';

import { parseRedisUrl, UnusableRedisUrl } from '../platform/quotas/index.ts';
import { UnusableDatabaseUrl } from './database-url.ts';
import { databaseVariables, withDatabaseVariables } from './database-variables.ts';
import { warningsOfNames } from './setting-warnings.ts';
import { hasMisplacedAt, percentEncoding } from '../platform/shown-url.ts';

/** An invalid setting. Its message names every wrong variable, its value, and what would be right. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const addressLogging = ['full', 'network', 'off'] as const;

/** The settings, checked. Durations are in seconds. */
export type Config = ReturnType<typeof readConfig>;

export type Environment = Readonly<Record<string, string | undefined>>;

type Read = (name: string) => string | undefined;

/** Reads the settings from environment variables; an empty one counts as unset. Throws ConfigError. */
export function readConfig(environment: Environment = process.env) {
  const problems: string[] = [];
  const names = new Set<string>();
  const read = (name: string): string | undefined => {
    names.add(name);
    return environment[name] || undefined;
  };
  const setting = <Value>(
    name: string,
    fallback: string,
    parse: (text: string) => Value | undefined,
    right: string,
  ): Value => {
    const text = read(name) ?? fallback;
    const value = parse(text);
    if (value === undefined)
      problems.push(`${name} is ${JSON.stringify(withoutPassword(text))}, but must be ${right}.`);
    return value as Value;
  };
  const integer = (name: string, fallback: number, min: number, max: number): number =>
    setting(name, String(fallback), integerWithin(min, max), `a whole number from ${min} to ${max}`);
  const duration = (name: string, fallback: string): number =>
    setting(
      name,
      fallback,
      durationWithin(0, maxDurationSeconds),
      'a duration such as 90s, 15m, 24h or 7d, with its unit and at most 7d',
    );

  const config = {
    port: integer('PORT', 4000, 0, 65_535),
    host: setting('HOST', '127.0.0.1', (text) => text, 'a host name or an address'),
    databaseUrl: url('DATABASE_URL', read, (text) => withDatabaseVariables(text, environment), problems),
    databasePoolSize: integer('DATABASE_POOL', 10, 1, 1000),
    dataDir: setting('DATA_DIR', '.data', (text) => text, 'a directory'),
    withDemoStore: setting('DEMO', 'on', choice({ on: true, off: false }), 'on or off'),
    redisUrl: url('REDIS_URL', read, checked(parseRedisUrl), problems),
    adminApiKey: adminApiKey(read('ADMIN_API_KEY'), problems),
    banRules: Object.freeze({
      banAfter: integer('BAN_AFTER', 100, 0, 10_000),
      banForSeconds: setting(
        'BAN_FOR',
        '15m',
        durationWithin(1, 86_400),
        'a duration from 1s to 24h, such as 90s or 15m',
      ),
    }),
    trustProxy: setting(
      'TRUST_PROXY',
      'false',
      proxies,
      'false, a number of proxies from 0 to 100, or a list of addresses such as 10.0.0.1,fd00::/8',
    ),
    corsOrigins: setting(
      'CORS_ORIGINS',
      '',
      origins,
      'a list of origins such as https://shop.example,http://localhost:3000, or * for all',
    ),
    maxConnections: integer('MAX_CONNECTIONS', 10_000, 1, 1_000_000),
    maxStreams: integer('MAX_STREAMS', 2_000, 1, 1_000_000),
    workers: setting('WORKERS', '1', workerCount, 'auto, or a whole number from 1 to 64'),
    metricsPort: read('METRICS_PORT') ? integer('METRICS_PORT', 0, 0, 65_535) : undefined,
    restPrefix: setting(
      'REST_PREFIX',
      '',
      (text) => (restPrefixPattern.test(text) ? text : undefined),
      'a path such as /v1 that begins with none of the pages (/docs, /graphiql, …) and has no / at its end',
    ),
    drainDelaySeconds: duration('DRAIN_DELAY', '0s'),
    drainTimeoutSeconds: duration('DRAIN_TIMEOUT', '30s'),
    eventsRetentionSeconds: setting(
      'EVENTS_RETENTION',
      '7d',
      durationWithin(86_400, 30 * 86_400),
      'a duration from 1d to 30d, such as 7d or 48h',
    ),
    webhooks: Object.freeze({
      signingKeys: signingKeys(read('WEBHOOK_SIGNING_KEY'), problems),
      allow: setting('WEBHOOK_ALLOW', '', networks, 'a list of networks such as 10.1.0.0/16,fd00::/8'),
      ports: setting('WEBHOOK_PORTS', '', ports, 'a list of ports such as 8443,9443'),
    }),
    logLevel: setting(
      'LOG_LEVEL',
      'info',
      (text) => logLevels.find((level) => level === text),
      `one of ${logLevels.join(', ')}`,
    ),
    logAddresses: setting(
      'LOG_ADDRESSES',
      'full',
      (text) => addressLogging.find((each) => each === text),
      'full, network or off',
    ),
    graphql: Object.freeze({
      introspection: setting('GRAPHQL_INTROSPECTION', 'true', choice({ true: true, false: false }), 'true or false'),
      maxDepth: integer('GRAPHQL_MAX_DEPTH', 15, 1, 1000),
      maxComplexity: integer('GRAPHQL_MAX_COMPLEXITY', 5000, 1, 1_000_000_000),
      maxAliases: integer('GRAPHQL_MAX_ALIASES', 50, 1, 1_000_000),
      maxFields: integer('GRAPHQL_MAX_FIELDS', 1000, 1, 1_000_000),
      maxTokens: integer('GRAPHQL_MAX_TOKENS', 2000, 1, 1_000_000),
      documentsPath: read('GRAPHQL_DOCUMENTS'),
      documentsOnly: setting('GRAPHQL_DOCUMENTS_ONLY', 'false', choice({ true: true, false: false }), 'true or false'),
      maxResponseBytes: integer('GRAPHQL_MAX_RESPONSE_BYTES', 8 * 1024 * 1024, 1024, 256 * 1024 * 1024),
    }),
  };
  // 0 is a free port each time.
  if (config.port > 0 && config.port === config.metricsPort) {
    problems.push(`METRICS_PORT is "${config.metricsPort}", but must be another port than PORT.`);
  }
  if (config.graphql.documentsOnly && config.graphql.documentsPath === undefined) {
    problems.push('GRAPHQL_DOCUMENTS_ONLY is "true", but GRAPHQL_DOCUMENTS names no operations: set both.');
  }
  if (config.workers !== 'auto' && config.workers > 1 && read('DATABASE_URL') === undefined) {
    problems.push(
      `WORKERS is "${config.workers}", but the embedded database has one process: set DATABASE_URL, or WORKERS to 1.`,
    );
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  const present = Object.keys(environment).filter((name) => environment[name]);
  return Object.freeze({ ...config, /** For people. */ warnings: warningsOfNames(present, names) });
}

/** The error codes for an address that isn't one of this machine's. */
const foreignHost = /^(?:EACCES|EADDRNOTAVAIL|EAFNOSUPPORT|EAI_\w+|EINVAL|ENOTFOUND)$/;

/**
 * The error to throw when the service can't listen: a ConfigError that names the variable of the port, or HOST, if it
 * is for one of them.
 */
export function listenFailure(error: unknown, portName: 'PORT' | 'METRICS_PORT', host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code !== 'EADDRINUSE' && !foreignHost.test(code)) return error;
  const [name, value, right] =
    code === 'EADDRINUSE'
      ? [portName, port, 'a free port, or 0 for any free one']
      : code === 'EACCES' && port > 0
        ? [portName, port, 'a port that this user may listen on, usually one from 1024']
        : ['HOST', host, 'an address of this machine or its name, such as 127.0.0.1, localhost, or 0.0.0.0 for all'];
  return new ConfigError(`${name} is "${value}", but must be ${right}: ${(error as Error).message}.`, { cause: error });
}

/** Nothing, or a path of unreserved characters below which no page of ours lies. */
const restPrefixPattern =
  /^(?!\/(?:docs|favicon\.ico|graphiql|graphql|healthz|metrics|openapi\.(?:json|yaml)|readyz|robots\.txt|schema\.graphql)(?:\/|$))(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/;

function integerWithin(min: number, max: number): (text: string) => number | undefined {
  return (text) => (/^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined);
}

function workerCount(text: string): 'auto' | number | undefined {
  return text === 'auto' ? text : integerWithin(1, 64)(text);
}

function choice<Value>(choices: Readonly<Record<string, Value>>): (text: string) => Value | undefined {
  return (text) => (Object.hasOwn(choices, text) ? choices[text] : undefined);
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Node's timers fire at once for delays of more than 24 days. */
const maxDurationSeconds = 7 * 86_400;

/** The seconds of a duration such as 90s, 15m, 24h or 7d; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unitSeconds[unit] ?? Number.NaN);
}

function durationWithin(min: number, max: number): (text: string) => number | undefined {
  return (text) => {
    const seconds = parseDuration(text);
    return seconds !== undefined && seconds >= min && seconds <= max ? seconds : undefined;
  };
}

function proxies(text: string): false | number | string[] | undefined {
  if (text === 'false') return false;
  if (/^\d+$/.test(text)) return integerWithin(0, 100)(text);
  const addresses = text.split(',').map((address) => address.trim());
  return addresses.every(isNetwork) ? addresses : undefined;
}

/** An address, or a whole network of them: `10.0.0.0/8`. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  const maxBits = family === 4 ? 32 : 128;
  return family !== 0 && rest.length === 0 && (bits === undefined || integerWithin(1, maxBits)(bits) !== undefined);
}

function origins(text: string): readonly string[] | undefined {
  if (text === '') return [];
  const list = text.split(',').map((origin) => origin.trim());
  return list.every((origin) => origin === '*' || isOrigin(origin)) ? list : undefined;
}

/** As a browser sends it. A URL's host may have a `*`, which would stand for itself. */
function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text && !text.includes('*');
}

/** The message never repeats the value. Other characters may not survive in a header. */
function adminApiKey(text: string | undefined, problems: string[]): string | undefined {
  if (text !== undefined && !/^[\x21-\x7e]{32,}$/.test(text))
    problems.push('ADMIN_API_KEY must be at least 32 printable ASCII characters without spaces.');
  return text;
}

const signingKeyBytes = 32;

/** Two while the key is changed, the new one first; none while webhooks are off. The message never repeats the value. */
function signingKeys(text: string | undefined, problems: string[]): readonly Buffer[] {
  const keys = text?.split(',').map((each) => keyBytes(each.trim())) ?? [];
  if (keys.length > 2 || keys.some((key) => key.length < signingKeyBytes))
    problems.push(
      `WEBHOOK_SIGNING_KEY must be at least ${signingKeyBytes} bytes in base64 or hex, or two such keys with a comma between them: \`npm run -s webhooks -- secret\` makes one.`,
    );
  return keys;
}

/** Empty for what is neither hex nor base64. */
function keyBytes(text: string): Buffer {
  if (/^(?:[\da-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[\w+/-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
}

function networks(text: string): readonly string[] | undefined {
  const list = listOf(text);
  return list.every((each) => each.includes('/') && isNetwork(each)) ? list : undefined;
}

function ports(text: string): readonly number[] | undefined {
  const list = listOf(text).map(integerWithin(1, 65_535));
  return list.every((port) => port !== undefined) ? list : undefined;
}

function listOf(text: string): string[] {
  return text === '' ? [] : text.split(',').map((each) => each.trim());
}

/** Whatever setting a URL was given to. */
function withoutPassword(text: string): string {
  return text.replace(/\/\/.*@/s, '//…@');
}

/** The URL as `parse` completes it, whose messages never repeat a password. */
function url(name: string, read: Read, parse: (text: string) => string, problems: string[]): string | undefined {
  const text = read(name);
  if (text === undefined) return undefined;
  if (hasMisplacedAt(text)) {
    problems.push(
      `${name} has an @ after its host, which a / # or ? in its password may have ended. ${percentEncoding}`,
    );
    return undefined;
  }
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof UnusableDatabaseUrl || error instanceof UnusableRedisUrl)) throw error;
    problems.push(/ must be the URL /.test(error.message) ? `${error.message} ${percentEncoding}` : error.message);
    return undefined;
  }
}

function checked(parse: (text: string) => unknown): (text: string) => string {
  return (text) => {
    parse(text);
    return text;
  };
}

/** The variables of this process that hold for connections to a server where DATABASE_URL leaves something out. */
export function setDatabaseVariables(environment: Environment = process.env): string[] {
  return databaseVariables.filter((name) => environment[name]);
}
