import { readFileSync } from 'node:fs';

import { buildSchema, type GraphQLEnumType } from 'graphql';

import { createApp, type App } from '../../src/app.ts';
import type { AppOverrides } from '../../src/app/base.ts';
import { readConfig } from '../../src/settings/config.ts';
import { newApiKey, type NewApiKey } from '../../src/domain/access/new-api-key.ts';
import { anyDelay } from './bare-server.ts';
import { atEnd } from './at-end.ts';
import { locationOf, runSql } from './postgres-client.ts';
import { sendRepeatedly } from './repeated-request.ts';
import { adminKey, StoreClient } from './service.ts';
import { createTestDatabase } from './test-database.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE' | 'PUT' | 'OPTIONS';
type Headers = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a response holds is each test's own to say
  readonly body: any;
}

export interface GraphQLResult {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a response holds is each test's own to say
  readonly data: any;
  readonly errors: readonly GraphQLFailure[];
  /** Of the errors. */
  readonly codes: readonly string[];
  /** The root fields whose stored payload was sent. */
  readonly replayed: readonly string[];
}

interface GraphQLFailure {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { code: string; status: number; violations?: { field: string; message: string }[] };
}

interface TestKey {
  readonly id: string;
  readonly secret: string;
}

const noLimit = { plan: 'enterprise', requestsPerMinute: 2 ** 31 - 1, requestsPerDay: 2 ** 31 - 1 } as const;
/** Statements of keys, quotas, the log of events and new connections, which may be sent beside any request. */
const housekeeping = /api_key|petstore_(?:move|maintain)_events|^set time zone/;

/**
 * The whole service on a database of its own, unless it is told another, reached without a port; closed when the test
 * ends, or its file.
 */
export interface TestApp {
  readonly app: App;
  /** The settings that it was started with, for a second process beside it. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * The statements since the last `forgetStatements`, except those of keys, quotas, the log of events and new
   * connections.
   */
  readonly statements: readonly string[];
  forgetStatements(): void;
  /** The secret of the suite's key, which has the scope admin and no limit. */
  readonly key: string;
  /** The lines of its log, parsed, where `LOG_LEVEL` lets it log. */
  readonly log: Record<string, unknown>[];
  /** Sends the body as JSON, a text or bytes as they are; with the key of the suite unless the headers have another. */
  ask(method: Method, url: string, body?: unknown, headers?: Headers): Promise<Answer>;
  /** With the key of the suite, or with another. */
  graphql(query: string, variables?: object, key?: string, headers?: Headers): Promise<GraphQLResult>;
  /** Creates a category; returns its id. */
  category(name?: string): Promise<number>;
  /** Creates a pet in a category of its own, and returns it. */
  pet(fields?: object): Promise<{ id: number; name: string; categoryId: number; status: string }>;
  /** A new key, by default of the plan Free with the scopes `read` and `write`. */
  createKey(input?: Partial<NewApiKey>): Promise<TestKey>;
  /** Runs SQL past the service. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Before its time. */
  close(): Promise<void>;
}

/** Those of the schema: no other is ever sent. */
const errorCodes = new Set(
  (buildSchema(readFileSync('schema.graphql', 'utf8')).getType('ErrorCode') as GraphQLEnumType)
    .getValues()
    .map(({ name }) => name),
);

/** On the database of `DATABASE_URL` where that is given, empty for the embedded one. */
export async function startTestApp(
  environment: Readonly<Record<string, string>> = {},
  overrides: AppOverrides = {},
): Promise<TestApp> {
  const database = 'DATABASE_URL' in environment ? {} : await createTestDatabase();
  const settings: Readonly<Record<string, string>> = { LOG_LEVEL: 'silent', ...database, ...environment };
  const statements: string[] = [];
  const log: Record<string, unknown>[] = [];
  const app = await createApp(readConfig(settings), {
    onStatement: (text) => {
      if (!housekeeping.test(text)) statements.push(text);
    },
    logStream: { write: (line) => log.push(JSON.parse(line)) },
    ...overrides,
    httpLimits: { ...anyDelay, ...overrides.httpLimits },
  });
  atEnd(() => app.close());
  const sql: TestApp['sql'] = (text, values) => runSql(locationOf(settings), text, values);
  const createKey: TestApp['createKey'] = async (input) => {
    const { secret, row } = newApiKey({ name: 'test', plan: 'free', ...input }, Date.now());
    const [created] = await sql(
      `insert into api_keys (name, prefix, sha256, plan, requests_per_minute, requests_per_day, scopes, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`,
      [
        row.name,
        row.prefix,
        row.sha256,
        row.plan,
        row.requestsPerMinute,
        row.requestsPerDay,
        row.scopes,
        row.expiresAt,
      ],
    );
    return { id: String(created?.['id']), secret };
  };
  const { secret: suiteKey } = await createKey({ ...noLimit, scopes: ['admin'] });
  const ask = askerOf(app, suiteKey);
  const prefix = settings['REST_PREFIX'] ?? '';
  const category: TestApp['category'] = async (name = 'Dogs') =>
    (await ask('POST', `${prefix}/categories`, { name })).body.id;
  return {
    app,
    environment: settings,
    key: suiteKey,
    statements,
    forgetStatements: () => {
      statements.length = 0;
    },
    log,
    createKey,
    ask,
    graphql: async (query, variables = {}, key = suiteKey, headers = {}) => {
      const send = () => ask('POST', '/graphql', { query, variables }, { authorization: `Bearer ${key}`, ...headers });
      // Other keys have a quota, which repetitions would spend.
      const response = await (key === suiteKey ? sendRepeatedly({ query, statements, send }) : send());
      const { data, errors = [], extensions = {} } = response.body;
      const codes = (errors as readonly GraphQLFailure[]).map((error) => error.extensions.code);
      const unknown = codes.filter((code) => !errorCodes.has(code));
      if (unknown.length > 0) throw new Error(`${unknown.join(', ')} is not among the schema's error codes.`);
      return { ...response, data, errors, codes, replayed: extensions.replayed ?? [] };
    },
    category,
    pet: async (fields = {}) =>
      (await ask('POST', `${prefix}/pets`, { name: 'Rex', categoryId: await category(), ...fields })).body,
    sql,
    close: () => app.close(),
  };
}

function askerOf(app: App, key: string): TestApp['ask'] {
  return async (method, url, body, headers = {}) => {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    const response = await app.server.inject({
      method,
      url,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: isRaw ? body : JSON.stringify(body) }),
    });
    const isJson = response.payload !== '' && String(response.headers['content-type']).includes('json');
    return {
      status: response.statusCode,
      headers: response.headers as Headers,
      text: response.payload,
      body: isJson ? JSON.parse(response.payload) : undefined,
    };
  };
}

interface ListeningApp extends StoreClient {
  /** Its lines, of the LOG_LEVEL that is given. */
  readonly log: readonly string[];
  /** Before its time. */
  close(): Promise<void>;
}

/**
 * The same, listening on a port, for tests that send requests as to a `Service` and need no process of its own: none is
 * killed, measured or stopped.
 */
export async function listenHere(environment: Readonly<Record<string, string>>): Promise<ListeningApp> {
  const log: string[] = [];
  const logStream = { write: (line: string) => void log.push(line) };
  const { app } = await startTestApp({ PORT: '0', ADMIN_API_KEY: adminKey, ...environment }, { logStream });
  return Object.assign(new StoreClient(), { address: await app.listen(), log, close: () => app.close() });
}
