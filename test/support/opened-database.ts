import { readConfig } from '../../src/settings/config.ts';
import type { DatabaseLocation } from '../../src/settings/database-url.ts';
import { openDatabase, type OpenDatabase } from '../../src/database/start/open.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { atEnd } from './at-end.ts';
import { testCaller } from './caller.ts';
import { locationOf, runSql } from './postgres-client.ts';
import { createTestDatabase } from './test-database.ts';

/** A database, opened as the service opens it, and closed when the test ends, or its file. */
export interface OpenedDatabase {
  readonly database: OpenDatabase;
  /** For the test itself. */
  readonly stores: Stores;
  /** What was sent since the suite emptied it. */
  readonly statements: string[];
  /** For clients of the suite's own. */
  readonly location: DatabaseLocation;
  /** Runs SQL past the stores. */
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
}

/** `url` is that of a server of the test's own. */
export async function openTestDatabase({
  url,
  poolSize,
  maxWalked,
}: {
  readonly url?: string;
  readonly poolSize?: number;
  readonly maxWalked?: number;
} = {}): Promise<OpenedDatabase> {
  const environment = url === undefined ? await createTestDatabase() : { DATABASE_URL: url };
  const { databaseUrl, dataDir, databasePoolSize } = readConfig(environment);
  const statements: string[] = [];
  const database = await openDatabase({
    url: databaseUrl,
    dataDir,
    poolSize: poolSize ?? databasePoolSize,
    maxWalked,
    withDemoStore: false,
    onStatement: (sql) => statements.push(sql),
  });
  atEnd(() => database.close());
  const location = locationOf(environment);
  const stores = database.stores.for(testCaller);
  return { database, stores, statements, location, sql: (text, values) => runSql(location, text, values) };
}
