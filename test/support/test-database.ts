import { randomUUID } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { atEnd } from './at-end.ts';
import { holdEngineCode } from './engine-code.ts';
import { runSql } from './postgres-client.ts';
import { databaseDirectory } from './temporary-directory.ts';
import { migratedDirectory, migrateTemplate, serverUrl, templateName, urlOf } from './template-database.ts';

/**
 * An empty, migrated database of the test's own, or of its file's, which is dropped at its end; the settings that lead
 * the service to it.
 */
export async function createTestDatabase(): Promise<Readonly<Record<string, string>>> {
  await migrateTemplate();
  const url = serverUrl();
  if (url === undefined) {
    await holdEngineCode();
    const directory = databaseDirectory();
    cpSync(join(migratedDirectory(), 'postgres'), join(directory, 'postgres'), { recursive: true });
    atEnd(() => rmSync(directory, { recursive: true, force: true }));
    return { DATA_DIR: directory, DEMO: 'off' };
  }
  const name = `suite_${randomUUID().replaceAll('-', '')}`;
  await runSql(url, `create database ${name} template ${templateName}`);
  atEnd(() => runSql(url, `drop database ${name} with (force)`));
  return { DATABASE_URL: urlOf(url, name), DATABASE_POOL: process.env['DATABASE_POOL'] ?? '' };
}
