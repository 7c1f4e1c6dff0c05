import { openMaintenance, openMaintenanceWhenWritable, type PgConnection } from '../../platform/postgres/index.ts';
import { databaseAt } from '../../settings/database-url.ts';
import { FailedDatabase } from '../../settings/failed-database.ts';
import { assertSuitable } from './server-requirements.ts';

/** `onWait` receives a sentence for people. Throws UnsuitableServer and ConnectionFailure. */
export async function openSuitable(url: string, onWait: (reason: string) => void): Promise<PgConnection> {
  const database = databaseAt(url);
  const connection = await openMaintenanceWhenWritable(database, (reason) =>
    onWait(`DATABASE_URL: ${reason.replace(/\.?$/, '.')} Waiting for a server that takes writes.`),
  );
  try {
    await assertSuitable(connection, () => openMaintenance(database));
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** For a process that starts others, which open it: throws FailedDatabase, with the cause that they would have. */
export async function checkServer(url: string, onWait: (reason: string) => void): Promise<void> {
  try {
    await (await openSuitable(url, onWait)).close();
  } catch (error) {
    throw new FailedDatabase(url, error);
  }
}
