import { join } from 'node:path';
import { tmpdir } from 'node:os';

/** The database that suites are cloned from on a server. */
export const templateName = 'petstore_template';

/** The PostgreSQL server to test on; without one the suites run on embedded databases. */
export function serverUrl(): string | undefined {
  return process.env['TEST_DATABASE_URL'] || undefined;
}

/** Where the embedded database lies that suites copy. The test run's own process names it, so that two runs don't meet. */
export function migratedDirectory(): string {
  return join(tmpdir(), `petstore-template-${process.env['PETSTORE_TEST_RUN']}`);
}

export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
