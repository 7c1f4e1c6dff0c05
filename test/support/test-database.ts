import { randomUUID } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { holdEngineCode } from './engine-code.ts';
import { runSql } from './postgres-client.ts';
import { databaseDirectory } from './temporary-directory.ts';
import { migratedDirectory, migrateTemplate, serverUrl, templateName, urlOf } from './template-database.ts';

/** An empty, migrated database that belongs to one suite alone. */
export interface TestDatabase {
  /** The settings that lead the service to it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly drop: () => Promise<unknown>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  await migrateTemplate();
  const url = serverUrl();
  if (url === undefined) {
    await holdEngineCode();
    const directory = databaseDirectory();
    cpSync(join(migratedDirectory(), 'postgres'), join(directory, 'postgres'), { recursive: true });
    return {
      environment: { DATA_DIR: directory, DEMO: 'off' },
      drop: async () => rmSync(directory, { recursive: true, force: true }),
    };
  }
  const name = `suite_${randomUUID().replaceAll('-', '')}`;
  await runSql(url, `create database ${name} template ${templateName}`);
  return {
    environment: { DATABASE_URL: urlOf(url, name), DATABASE_POOL: process.env['DATABASE_POOL'] ?? '' },
    drop: () => runSql(url, `drop database ${name} with (force)`),
  };
}
