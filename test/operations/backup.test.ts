import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { repository } from '../support/running-command.ts';
import type { StoreClient } from '../support/service.ts';
import { listenHere } from '../support/test-app.ts';
import { copyEmbeddedStore } from '../support/test-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { runBare, takeBlock, takeCommands } from './command-blocks.ts';

const directory = temporaryDirectory();
const cluster = await startCluster();

for (const name of ['dist', 'node_modules', 'package.json', '.github']) {
  symlinkSync(join(repository, name), join(directory, name));
}

const embedded = { DATABASE_URL: '', DATA_DIR: join(directory, '.data') };
cpSync((await copyEmbeddedStore()).DATA_DIR, embedded.DATA_DIR, { recursive: true });
const onServer = { DATABASE_URL: cluster.url };

writeFileSync(join(directory, 'owner'), `DATABASE_URL=${cluster.url}\n`);
const here = ['/etc/petstore', directory] as const;

/** Runs commands of the guide where `.data` is. */
const run = (...commands: readonly string[]): string => runBare(commands.join('\n'), directory);

const everything = `{
  pets(first: 100) { totalCount edges { node { id name status inventory { quantity } } } }
  categories { edges { node { id name description } } }
  orders(first: 100) { totalCount edges { node { id petId quantity shipDate complete } } }
}`;

const createPet = `mutation { createPet(input: { name: "New", categoryId: "1" }) { pet { id } } }`;

/** A row of each kind, and the key that reads them. */
const createEach = `mutation {
  createCategory(input: { name: "Größe \\\\ 'M'", description: "Loyal" }) { category { id } }
  createPet(input: { name: "Rex", categoryId: "1" }) { pet { id } }
  updateInventory(input: { petId: "1", quantity: 3 }) { inventoryItem { quantity } }
  createOrder(input: { petId: "1", quantity: 2, shipDate: "2026-01-02T03:04:05Z" }) { order { id } }
  createApiKey(input: { name: "moved", plan: PRO }) { secret }
}`;

/** Everything that the key can read: it still works where the data has gone to. */
async function contents(service: StoreClient, key: string): Promise<unknown> {
  return (await service.graphql(everything, {}, key)).body.data;
}

test('the embedded database moves to a server with everything in it, new ids go on, and both are backed up and restored', async () => {
  const [pack = '', unpack = ''] = takeCommands('Backup and restore 2');
  const [settings = '', dump = '', ...restore] = takeCommands('Backup and restore 1', here);

  const first = await listenHere(embedded);
  const key: string = (await first.graphql(createEach)).body.data.createApiKey.secret;
  const before = await contents(first, key);
  const report = run(takeBlock('From the embedded database to a server 1', here));
  // That of the suite, and the new one.
  expect(report).toMatch(/^api_keys: 2 rows$/m);
  await first.close();

  run(pack);
  rmSync(embedded.DATA_DIR, { recursive: true });
  run(unpack);
  const restored = await listenHere(embedded);
  expect(await contents(restored, key)).toEqual(before);
  await restored.close();

  const moved = await listenHere(onServer);
  expect(await contents(moved, key)).toEqual(before);
  expect(Number((await moved.graphql(createPet)).body.data.createPet.pet.id)).toBe(2);
  const backedUp = await contents(moved, key);
  run(settings, dump);
  await moved.graphql('mutation { createCategory(input: { name: "After the backup" }) { category { id } } }');
  await moved.close();

  // As a later version makes it: the next migration to that version must not find it.
  const sql = (text: string): string => run(settings, `psql "$DATABASE_URL" -qAtc "${text}"`);
  sql('create table made_later ()');
  // What a role of the service has by default in a new database.
  sql('create role petstore_service; alter default privileges grant all on tables to petstore_service');
  run(settings, ...restore);
  expect(sql("select to_regclass('made_later')")).toBe('\n');
  expect(await contents(await listenHere(onServer), key)).toEqual(backedUp);
  const writable = `select string_agg(oid::regclass::text, ' ') from pg_class where relname ~ '^event' and relkind in ('r', 'p')
    and has_table_privilege('petstore_service', oid, 'insert, update, delete, truncate')`;
  expect(sql(writable)).toBe('\n');
});
