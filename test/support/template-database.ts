import 'reflect-metadata';

import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase } from '../../src/database/start/open.ts';
import { runSql } from './postgres-client.ts';
import { databasesDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

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

let migrated: Promise<void> | undefined;

/** Migrates the database that suites get copies of: the first one that needs it, once for all workers of a run. */
export function migrateTemplate(): Promise<void> {
  return (migrated ??= migrateOnce(join(databasesDirectory(), 'template-migrated')));
}

async function migrateOnce(outcome: string): Promise<void> {
  if (isTaken(`${outcome}.begun`)) {
    await until(() => existsSync(outcome), { maxMillis: 100_000, everyMillis: 20 });
    if (readFileSync(outcome, 'utf8') === 'failed') throw new Error('Another worker could not migrate the template.');
    return;
  }
  let result = 'failed';
  try {
    await migrate();
    result = 'migrated';
  } finally {
    writeFileSync(`${outcome}.new`, result);
    renameSync(`${outcome}.new`, outcome);
  }
}

function isTaken(directory: string): boolean {
  try {
    mkdirSync(directory);
    return false;
  } catch {
    return true;
  }
}

async function migrate(): Promise<void> {
  const url = serverUrl();
  if (url === undefined) return migrateEmbedded(process.env['TEST_TEMPLATE']);
  await runSql(url, `drop database if exists ${templateName}`);
  await runSql(url, `create database ${templateName}`);
  return migrateDatabase(urlOf(url, templateName), migratedDirectory());
}

/** `kept` is a directory for several runs whose migrations are the same: the first one leaves its database there. */
async function migrateEmbedded(kept?: string): Promise<void> {
  if (kept !== undefined && existsSync(kept)) return cpSync(kept, migratedDirectory(), { recursive: true });
  await migrateDatabase(undefined, migratedDirectory());
  if (kept === undefined) return;
  const own = `${kept}-${process.pid}`;
  cpSync(migratedDirectory(), own, { recursive: true });
  try {
    renameSync(own, kept);
  } catch {
    // Another run was faster.
    rmSync(own, { recursive: true });
  }
}

/** On the server, or in a directory. */
export async function migrateDatabase(url: string | undefined, dataDir: string): Promise<void> {
  const database = await openDatabase({ url, dataDir, poolSize: 1, withDemoStore: false });
  await database.close();
}
