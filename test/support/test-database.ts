import { randomUUID } from 'node:crypto';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { atEnd } from './at-end.ts';
import { runSql } from './postgres-client.ts';
import { databaseDirectory } from './temporary-directory.ts';
import { migratedDirectory, migrateTemplate, serverUrl, templateName, urlOf } from './template-database.ts';

/** Node has it, but its types come with those of browsers. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

const engineCode = Symbol.for('petstore.engine-code');
const held = globalThis as { [engineCode]?: object };

/**
 * An empty, migrated database of the test's own, or of its file's, which is dropped at its end; the settings that lead
 * the service to it.
 */
export async function createTestDatabase(): Promise<Readonly<Record<string, string>>> {
  const url = serverUrl();
  if (url === undefined) {
    await holdEngineCode();
    const settings = await copyEmbeddedStore();
    atEnd(() => rmSync(settings.DATA_DIR, { recursive: true, force: true }));
    return settings;
  }
  await migrateTemplate();
  const name = `suite_${randomUUID().replaceAll('-', '')}`;
  await runSql(url, `create database ${name} template ${templateName}`);
  atEnd(() => runSql(url, `drop database ${name} with (force)`));
  return { DATABASE_URL: urlOf(url, name), DATABASE_POOL: process.env['DATABASE_POOL'] ?? '' };
}

/**
 * The settings of a service with an empty, embedded store, as its first start leaves it: that takes a start three times
 * as long. The directory is removed when the test run ends.
 */
export async function copyEmbeddedStore(): Promise<{ readonly DATA_DIR: string; readonly DEMO: 'off' }> {
  await migrateTemplate();
  const directory = databaseDirectory();
  cpSync(join(migratedDirectory(), 'postgres'), join(directory, 'postgres'), { recursive: true });
  return { DATA_DIR: directory, DEMO: 'off' };
}

/**
 * Holds the embedded engine's code for as long as the process runs: V8 compiles and optimizes it once for all engines
 * that run while something refers to it, and anew for each engine otherwise, which takes longer than most suites.
 */
export async function holdEngineCode(): Promise<void> {
  const file = new URL('pglite.wasm', import.meta.resolve('@electric-sql/pglite'));
  held[engineCode] ??= await WebAssembly.compile(readFileSync(fileURLToPath(file)));
}
