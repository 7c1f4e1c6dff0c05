import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { migratedDirectory, serverUrl, templateName, urlOf } from './template-database.ts';

/** An empty, migrated database that belongs to one suite alone. */
export interface TestDatabase {
  /** The settings that lead the service to it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly drop: () => Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const url = serverUrl();
  if (url === undefined) {
    const directory = mkdtempSync(join(tmpdir(), 'petstore-suite-'));
    cpSync(join(migratedDirectory(), 'postgres'), join(directory, 'postgres'), { recursive: true });
    return {
      environment: { DATA_DIR: directory, DEMO: 'off' },
      drop: () => Promise.resolve(rmSync(directory, { recursive: true, force: true })),
    };
  }
  const name = `suite_${randomUUID().replaceAll('-', '')}`;
  await administer(url, `create database ${name} template ${templateName}`);
  return {
    environment: { DATABASE_URL: urlOf(url, name), DATABASE_POOL: process.env['DATABASE_POOL'] ?? '' },
    drop: () => administer(url, `drop database ${name} with (force)`),
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
