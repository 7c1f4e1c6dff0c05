import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

import { parse, toClientConfig } from 'pg-connection-string';

import {
  type ConnectionConfig,
  type DatabaseOptions,
  type PostgresAddress,
  targetsOf,
} from '../platform/postgres/index.ts';

/** The URL of a PostgreSQL server, or where the embedded one listens. */
export type DatabaseLocation = string | PostgresAddress;

/** The name of this program in PostgreSQL (`pg_stat_activity`), unless the URL says it. */
const applicationName = 'petstore-gateway';

/** An unusable URL. The message says what is wrong and what would be right, without a password. */
export class UnusableDatabaseUrl extends Error {
  override readonly name = 'UnusableDatabaseUrl';
}

const form = 'the URL of a PostgreSQL server: postgresql://user:password@host:port/database';

export interface ParameterRule {
  readonly isValid: (value: string) => boolean;
  /** A valid value, in words. */
  readonly right: string;
}

/** The values of each supported parameter. Others are refused, because ignoring one may be unsafe. */
export const parameters: Readonly<Record<string, ParameterRule>> = {
  host: anyText('a host, or the directory of a socket'),
  port: { isValid: (value) => /^\d{1,5}(?:,\d{1,5})*$/.test(value), right: 'a port' },
  user: anyText('a user'),
  password: anyText('a password'),
  sslmode: oneOf('disable', 'no-verify', 'require', 'verify-ca', 'verify-full'),
  ssl: oneOf('true', '1', '0', 'no-verify'),
  sslrootcert: anyText('a file'),
  sslcert: anyText('a file'),
  sslkey: anyText('a file'),
  sslnegotiation: oneOf('postgres', 'direct'),
  uselibpqcompat: oneOf('true', 'false'),
  application_name: anyText('a name'),
  fallback_application_name: anyText('a name'),
  options: anyText("options for the server's session"),
  client_encoding: { isValid: (value) => /^utf-?8$/i.test(value), right: 'utf8' },
  connect_timeout: {
    isValid: (value) => /^\d{1,4}$/.test(value) && Number(value) > 0,
    right: 'a whole number of seconds from 1 to 9999',
  },
  target_session_attrs: oneOf('read-write', 'primary'),
  load_balance_hosts: oneOf('disable', 'random'),
};

/** Refuses what `pg` would ignore, and TLS that may end in plaintext. Throws UnusableDatabaseUrl. */
export function parseDatabaseUrl(text: string): ConnectionConfig {
  const values = readParameters(text);
  assertSupported(values);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) assertReadable(name, values.get(name));
  const [first, ...others] = urlsOfHosts(withClearMode(text, values)).map(toConfig) as [
    ConnectionConfig,
    ...ConnectionConfig[],
  ];
  assertUsableTls(first, values);
  const hosts = [first, ...others].map(({ host, port }) => ({ host, port }));
  const seconds = values.get('connect_timeout');
  const target = values.get('target_session_attrs') as ConnectionConfig['targetSession'] | null;
  return {
    fallback_application_name: applicationName,
    ...first,
    hosts: others.length > 0 ? hosts : undefined,
    targetSession: target ?? (others.length > 0 ? 'read-write' : undefined),
    connectTimeoutMillis: seconds === null ? undefined : Number(seconds) * 1000,
    isBalanced: values.get('load_balance_hosts') === 'random',
  };
}

/** The database there, as it is connected to. The embedded one never uses TLS, whatever the environment says. */
export function databaseAt(location: DatabaseLocation): DatabaseOptions {
  return typeof location === 'string'
    ? { config: parseDatabaseUrl(location), session: 'server' }
    : { config: { ...location, ssl: false }, session: 'embedded' };
}

/** For people: the database of a usable URL, and its hosts. */
export function describeDatabase(url: string): string {
  const targets = targetsOf(parseDatabaseUrl(url));
  return `${targets[0]?.database ?? 'without a name'} at ${targets.map(({ name }) => name).join(', ')}`;
}

/** The host may be empty where a socket is named (`…user@/database?host=/run/postgresql`): `URL` refuses that. */
export function readParameters(text: string): URLSearchParams {
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw new UnusableDatabaseUrl(`DATABASE_URL must be ${form}.`);
  const [, query = ''] = /\?([^#]*)/.exec(text) ?? [];
  return new URLSearchParams(query);
}

function assertSupported(values: URLSearchParams): void {
  const problems: string[] = [];
  // The rest may be a part of the password, after an & in it.
  const hasPassword = values.has('password');
  for (const name of new Set(values.keys())) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    const [value = '', ...others] = values.getAll(name);
    if (parameter === undefined) {
      problems.push(
        `DATABASE_URL has ${hasPassword ? 'a parameter' : `the parameter ${JSON.stringify(name)}`}, which is not supported: use ${Object.keys(parameters).join(', ')}.`,
      );
    } else if (others.length > 0) {
      problems.push(`DATABASE_URL has the parameter ${name} more than once: leave one.`);
    } else if (!parameter.isValid(value)) {
      problems.push(
        `DATABASE_URL has ${hasPassword ? name : `${name}=${value}`}, but ${name} must be ${parameter.right}.`,
      );
    }
  }
  problems.push(...contradictions(values));
  if (problems.length > 0) throw new UnusableDatabaseUrl(problems.join('\n'));
}

function contradictions(values: URLSearchParams): string[] {
  const problems: string[] = [];
  const isPlain = values.get('sslmode') === 'disable' || values.get('ssl') === '0';
  if (values.has('ssl') && values.has('sslmode')) {
    problems.push('DATABASE_URL has ssl and sslmode, but takes only one of them: use sslmode.');
  }
  if (values.has('sslcert') !== values.has('sslkey')) {
    problems.push('DATABASE_URL has only one of sslcert and sslkey: a client certificate needs both.');
  }
  if (isPlain && values.get('sslnegotiation') === 'direct') {
    problems.push('DATABASE_URL has sslnegotiation=direct without TLS: use another sslmode.');
  }
  if (isCompatible(values) && values.get('sslmode') === 'no-verify') {
    problems.push('DATABASE_URL has sslmode=no-verify, which libpq does not know: with uselibpqcompat use require.');
  }
  if (isCompatible(values) && values.get('sslmode') === 'verify-ca' && !values.has('sslrootcert')) {
    problems.push('DATABASE_URL has sslmode=verify-ca, which with uselibpqcompat needs sslrootcert.');
  }
  return problems;
}

function isCompatible(values: URLSearchParams): boolean {
  return values.get('uselibpqcompat') === 'true';
}

/** `require` and `verify-ca` verify fully; naming that keeps the parser from warning about its next version. */
function withClearMode(text: string, values: URLSearchParams): string {
  if (isCompatible(values)) return text;
  return text.replace(/([?&]sslmode=)(?:require|verify-ca)(?=&|#|$)/, '$1verify-full');
}

/** `toClientConfig` alone would drop `ssl=no-verify`, and so make plaintext connections. */
function toConfig(url: string): ConnectionConfig {
  try {
    const parsed = parse(url);
    const ssl = parsed.ssl === 'no-verify' ? { ssl: { rejectUnauthorized: false } } : {};
    return { ...toClientConfig(parsed), ...ssl };
  } catch (error) {
    throw new UnusableDatabaseUrl(`DATABASE_URL must be ${form}.`, { cause: error });
  }
}

function assertReadable(name: string, file: string | null): void {
  if (file === null) return;
  try {
    readFileSync(file);
  } catch (error) {
    throw new UnusableDatabaseUrl(
      `DATABASE_URL has ${name}=${file}, but that file can not be read: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

/** Fails at the start instead of at each connection. */
function assertUsableTls({ ssl }: ConnectionConfig, values: URLSearchParams): void {
  if (typeof ssl !== 'object') return;
  if (ssl.ca !== undefined && !String(ssl.ca).includes('-----BEGIN')) {
    throw new UnusableDatabaseUrl(
      `DATABASE_URL has sslrootcert=${values.get('sslrootcert')}, but that file holds no certificate in PEM form.`,
    );
  }
  try {
    createSecureContext(ssl);
  } catch (error) {
    throw new UnusableDatabaseUrl(
      `The certificates that DATABASE_URL names can not be used: ${(error as Error).message}. ` +
        'They must be in PEM form, the key without a passphrase and made for the certificate.',
      { cause: error },
    );
  }
}

/** Any value but an empty one. */
export function anyText(right: string): ParameterRule {
  return { isValid: (value) => value !== '', right };
}

function oneOf(...values: string[]): ParameterRule {
  return { isValid: (value) => values.includes(value), right: `one of ${values.join(', ')}` };
}

const urlParts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?(.*)$/s;

/**
 * The same URL for each of its hosts, in their order: `h1:5432,h2,[::1]:5434` in the authority, or
 * `?host=h1,h2&port=5432` as libpq reads it, with one port for all or one for each. A single host leaves the URL as it
 * is.
 */
function urlsOfHosts(url: string): readonly string[] {
  const [, before = '', authority = '', path = '', query = '', after = ''] = urlParts.exec(url) ?? [];
  const values = new URLSearchParams(query);
  const hosts = values.get('host')?.split(',') ?? [];
  const ports = values.get('port')?.split(',') ?? [];
  if (authority.includes(',')) {
    if (hosts.length > 0 || ports.length > 0) {
      throw new UnusableDatabaseUrl(
        'DATABASE_URL names several hosts, and host or port as a parameter too: leave one of them.',
      );
    }
    return authority.split(',').map((host) => before + assertNamed(host) + path + (query && `?${query}`) + after);
  }
  if (hosts.length < 2 && ports.length < 2) return [url];
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw new UnusableDatabaseUrl('DATABASE_URL must have one port for all hosts, or as many ports as hosts.');
  }
  return hosts.map((host, index) => {
    values.set('host', assertNamed(host));
    if (ports.length > 1) values.set('port', ports[index] ?? '');
    return `${before}${authority}${path}?${values.toString()}${after}`;
  });
}

function assertNamed(host: string): string {
  if (!/^(?::|$)/.test(host)) return host;
  throw new UnusableDatabaseUrl('DATABASE_URL names several hosts, and one of them is empty: name each.');
}
