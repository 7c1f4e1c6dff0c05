import 'reflect-metadata';

import { execFileSync } from 'node:child_process';

import { openDatabase } from '../../src/database/start/open.ts';
import { withClient } from './postgres-client.ts';
import { migratedDirectory, serverUrl, templateName, urlOf } from './template-database.ts';
import { nameRun } from './temporary-directory.ts';

/**
 * Builds what the program reads beside its own files, and migrates once the database that every suite gets a copy of.
 */
export default async function setUp(): Promise<void> {
  execFileSync(process.execPath, ['.ci/build-openapi.mjs', 'src/rest/openapi']);
  nameRun();
  const url = serverUrl();
  if (url !== undefined) {
    await withClient(url, async (client) => {
      await client.query(`drop database if exists ${templateName}`);
      await client.query(`create database ${templateName}`);
    });
  }
  const database = await openDatabase({
    url: url === undefined ? undefined : urlOf(url, templateName),
    dataDir: migratedDirectory(),
    poolSize: 1,
    withDemoStore: false,
  });
  await database.close();
}
