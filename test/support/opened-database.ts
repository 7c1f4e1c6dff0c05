import pg from 'pg';

import { readConfig } from '../../src/config.ts';
import { embeddedPostgresAddress } from '../../src/database/embedded/embedded-postgres.ts';
import { openDatabase, type OpenDatabase } from '../../src/database/open.ts';
import { createTestDatabase } from './test-database.ts';

/** A database of one suite, opened as the service opens it. */
export interface OpenedDatabase {
  readonly database: OpenDatabase;
  /** What was sent since the suite emptied it. */
  readonly statements: string[];
  /** Runs SQL past the stores: one statement, or several without values, whose rows come together. */
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openTestDatabase({ poolSize }: { readonly poolSize?: number } = {}): Promise<OpenedDatabase> {
  const { environment, drop } = await createTestDatabase();
  const { databaseUrl, dataDir, databasePoolSize } = readConfig(environment);
  const statements: string[] = [];
  const database = await openDatabase({
    url: databaseUrl,
    dataDir,
    poolSize: poolSize ?? databasePoolSize,
    withDemoStore: false,
    onStatement: (sql) => statements.push(sql),
  });
  const sql: OpenedDatabase['sql'] = async (text, values = []) => {
    const client = new pg.Client(
      databaseUrl === undefined ? embeddedPostgresAddress(dataDir) : { connectionString: databaseUrl },
    );
    await client.connect();
    try {
      return [await client.query({ text, values: [...values] })].flat().flatMap(({ rows }) => rows);
    } finally {
      await client.end();
    }
  };
  const close = async (): Promise<void> => {
    await database.close();
    await drop();
  };
  return { database, statements, sql, close };
}
