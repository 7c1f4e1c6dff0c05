import { randomUUID } from 'node:crypto';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { runSql } from './postgres-client.ts';
import { databaseDirectory } from './temporary-directory.ts';
import { migratedDirectory, serverUrl, templateName, urlOf } from './template-database.ts';

/** Node has it, but its types come with those of browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

const engineCode = Symbol.for('petstore.engine-code');

/** An empty, migrated database that belongs to one suite alone. */
export interface TestDatabase {
  /** The settings that lead the service to it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly drop: () => Promise<unknown>;
}

/**
 * The engine's code, held for as long as the process runs: V8 compiles and optimizes it once for all engines that run
 * while something refers to it, and anew for each engine otherwise, which takes longer than most suites.
 */
const held = globalThis as { [engineCode]?: object };

export async function createTestDatabase(): Promise<TestDatabase> {
  const url = serverUrl();
  if (url === undefined) {
    const file = new URL('pglite.wasm', import.meta.resolve('@electric-sql/pglite'));
    held[engineCode] ??= await WebAssembly.compile(readFileSync(fileURLToPath(file)));
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
