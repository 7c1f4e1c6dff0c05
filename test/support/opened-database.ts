import { readConfig } from '../../src/config.ts';
import { openDatabase, type OpenDatabase } from '../../src/database/open.ts';
import { createTestDatabase } from './test-database.ts';

/** A database of one suite, opened as the service opens it. */
export interface OpenedDatabase {
  readonly database: OpenDatabase;
  /** What was sent since the suite emptied it. */
  readonly statements: string[];
  close(): Promise<void>;
}

export async function openTestDatabase(): Promise<OpenedDatabase> {
  const { environment, drop } = await createTestDatabase();
  const { databaseUrl, dataDir, databasePoolSize } = readConfig(environment);
  const statements: string[] = [];
  const database = await openDatabase({
    url: databaseUrl,
    dataDir,
    poolSize: databasePoolSize,
    withDemoStore: false,
    onStatement: (sql) => statements.push(sql),
  });
  const close = async (): Promise<void> => {
    await database.close();
    await drop();
  };
  return { database, statements, close };
}
