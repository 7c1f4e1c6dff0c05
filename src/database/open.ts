import { connectDatabase, type Database, type DatabaseLocation } from './database.ts';
import { startEmbeddedPostgres } from './embedded/embedded-postgres.ts';
import { migrate } from './migrate.ts';

export interface OpenDatabaseOptions {
  /** Without one the embedded database in `dataDir` is started. */
  readonly url: string | undefined;
  readonly dataDir: string;
  readonly poolSize: number;
  readonly withDemoStore: boolean;
  readonly onStatement?: ((sql: string) => void) | undefined;
}

export interface OpenDatabase extends Database {
  /** Calls the listener when the embedded engine ends by itself: nothing can be answered any more. */
  readonly onExit: (listener: (error: Error) => void) => void;
}

/** Starts the embedded database where it is needed, brings the tables up to date, and connects. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenDatabase> {
  const { url, dataDir, poolSize, withDemoStore, onStatement } = options;
  const embedded = url === undefined ? await startEmbeddedPostgres(dataDir) : undefined;
  const location = (url ?? embedded?.connection) as DatabaseLocation;
  try {
    // Only the embedded database is ever ours to fill.
    await migrate({ location, withDemoStore: withDemoStore && embedded !== undefined });
    const database = await connectDatabase({ location, poolSize, onStatement });
    return {
      ...database,
      onExit: (listener) => embedded?.onExit(listener),
      close: async () => {
        await database.close();
        await embedded?.close();
      },
    };
  } catch (error) {
    await embedded?.close();
    throw error;
  }
}
