import { join } from 'node:path';

import { databasesDirectory } from './temporary-directory.ts';

/** The database that suites are cloned from on a server. */
export const templateName = 'petstore_template';

/** The PostgreSQL server to test on; without one the suites run on embedded databases. */
export function serverUrl(): string | undefined {
  return process.env['TEST_DATABASE_URL'] || undefined;
}

/** Where the embedded database lies that suites copy. */
export function migratedDirectory(): string {
  return join(databasesDirectory(), 'template');
}

export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
