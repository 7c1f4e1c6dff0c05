import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { PostgresCluster } from '../support/postgres-cluster.ts';
import { guideCommands } from './guide.ts';
import { adminKey, repository, startService } from './running-command.ts';

type Service = Awaited<ReturnType<typeof startService>>;

const directory = mkdtempSync(join(tmpdir(), 'petstore-backup-'));
let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.create();
  for (const name of ['dist', 'node_modules', 'package.json', '.github']) {
    symlinkSync(join(repository, name), join(directory, name));
  }
});

afterAll(() => {
  cluster.remove();
  rmSync(directory, { recursive: true });
});

/** Runs a command of the guide where `.data` is. */
function run(command: string, environment: Readonly<Record<string, string>> = {}): string {
  const env = { PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`, ...environment };
  return execFileSync('sh', ['-c', command], { cwd: directory, env, encoding: 'utf8' });
}

function start(environment: Readonly<Record<string, string>>): Promise<Service> {
  const settings = { DATA_DIR: join(directory, '.data'), LOG_LEVEL: 'warn', ...environment };
  return startService(settings, { directory });
}

async function graphql({ address }: Service, query: string, variables = {}, key = adminKey): Promise<unknown> {
  const response = await fetch(`${address}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return ((await response.json()) as { data: unknown }).data;
}

const everything = `{
  pets(first: 100) { totalCount edges { node { id name status inventory { quantity } } } }
  categories { edges { node { id name description } } }
  orders(first: 100) { totalCount edges { node { id petId quantity shipDate complete } } }
}`;

const createPet = `mutation { createPet(input: { name: "New", categoryId: "1" }) { pet { id } } }`;

/** A key that was created, to see that it still works where the data has gone to. */
async function createKey(service: Service): Promise<string> {
  const mutation = 'mutation { createApiKey(input: { name: "moved", plan: PRO }) { secret } }';
  return ((await graphql(service, mutation)) as { createApiKey: { secret: string } }).createApiKey.secret;
}

test('the embedded database moves to a server with everything in it, new ids go on, and both are backed up and restored', async () => {
  const [tarCommand, untarCommand] = guideCommands('Backup and restore', 2);
  const [dumpCommand, restoreCommand] = guideCommands('Backup and restore');
  const [, moveCommand] = guideCommands('From the embedded database to a server');

  const first = await start({});
  const key = await createKey(first);
  await graphql(first, createPet);
  const before = await graphql(first, everything);
  run('node dist/src/cli/migrate.js', { DATABASE_URL: cluster.url, NODE_ENV: 'production' });
  const report = run(moveCommand!, { SERVER_URL: cluster.url });
  expect(report).toMatch(/^api_keys: 2 rows$/m);
  expect(await first.process.stop()).toBe(0);

  run(tarCommand!);
  rmSync(join(directory, '.data'), { recursive: true });
  run(untarCommand!);
  const restored = await start({});
  expect(await graphql(restored, everything, {}, key)).toEqual(before);
  await restored.process.stop();

  const moved = await start({ DATABASE_URL: cluster.url });
  expect(await graphql(moved, everything, {}, key)).toEqual(before);
  const { createPet: created } = (await graphql(moved, createPet)) as { createPet: { pet: { id: string } } };
  expect(Number(created.pet.id)).toBeGreaterThan(30);
  const onServer = await graphql(moved, everything);
  run(dumpCommand!, { DATABASE_URL: cluster.url });
  await graphql(moved, 'mutation { createCategory(input: { name: "After the backup" }) { category { id } } }');
  await moved.process.stop();

  run(restoreCommand!, { DATABASE_URL: cluster.url });
  const restoredServer = await start({ DATABASE_URL: cluster.url });
  expect(await graphql(restoredServer, everything, {}, key)).toEqual(onServer);
  await restoredServer.process.stop();
});
