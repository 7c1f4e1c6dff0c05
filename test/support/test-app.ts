import pg from 'pg';

import { createApp, type App, type AppOverrides } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { embeddedPostgresAddress } from '../../src/database/embedded/embedded-postgres.ts';
import { createTestDatabase } from './test-database.ts';

export interface GraphQLResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | string[] | undefined>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a response holds is each test's own to say
  readonly data: any;
  readonly errors: readonly GraphQLFailure[];
}

interface GraphQLFailure {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { code: string; status: number; violations?: { field: string; message: string }[] };
}

/** The whole service on a database of its own, reached without a port. */
export interface TestApp {
  readonly app: App;
  /** The settings that it was started with, for a second process beside it. */
  readonly environment: Readonly<Record<string, string>>;
  /** What was sent to PostgreSQL since the last `forgetStatements`. */
  readonly statements: readonly string[];
  forgetStatements(): void;
  graphql(query: string, variables?: Record<string, unknown>): Promise<GraphQLResult>;
  /** Runs SQL behind the service's back. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function startTestApp(
  environment: Readonly<Record<string, string>> = {},
  overrides: AppOverrides = {},
): Promise<TestApp> {
  const database = await createTestDatabase();
  const settings = { LOG_LEVEL: 'silent', ...database.environment, ...environment };
  const config = readConfig(settings);
  const statements: string[] = [];
  const app = await createApp(config, { onStatement: (sql) => statements.push(sql), ...overrides });
  return {
    app,
    environment: settings,
    statements,
    forgetStatements: () => {
      statements.length = 0;
    },
    graphql: async (query, variables = {}) => {
      const response = await app.server.inject({ method: 'POST', url: '/graphql', payload: { query, variables } });
      const { data, errors = [] } = response.json();
      return { status: response.statusCode, headers: response.headers, data, errors };
    },
    sql: async (text, values = []) => {
      const client = new pg.Client(
        config.databaseUrl === undefined
          ? embeddedPostgresAddress(config.dataDir)
          : { connectionString: config.databaseUrl },
      );
      await client.connect();
      try {
        return (await client.query({ text, values: [...values] })).rows;
      } finally {
        await client.end();
      }
    },
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}
