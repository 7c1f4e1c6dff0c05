import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { PostgresCluster } from '../support/postgres-cluster.ts';
import { buildImage, type BuiltImage } from './container.ts';
import { startService } from './running-command.ts';

let cluster: PostgresCluster;
let image: BuiltImage;

beforeAll(async () => {
  cluster = await PostgresCluster.create();
  image = buildImage();
}, 300_000);

afterAll(() => {
  image.remove();
  cluster.remove();
});

function run(...command: string[]): string {
  const env = {
    PATH: `${join(process.execPath, '..')}:/usr/bin:/bin`,
    DATABASE_URL: cluster.url,
    NODE_ENV: 'production',
  };
  return execFileSync(command[0]!, command.slice(1), { cwd: image.directory, env, encoding: 'utf8' }).trim();
}

test('what the Dockerfile builds migrates, manages keys and serves, without a development package', async () => {
  expect(image.environment).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0' });
  expect(existsSync(join(image.directory, 'node_modules/typescript'))).toBe(false);
  run('node', 'dist/src/cli/migrate.js');
  const key = run('node', 'dist/src/cli/keys.js', 'create', '--name', 'container', '--plan', 'pro');

  const settings = { ...image.environment, HOST: '127.0.0.1', DATABASE_URL: cluster.url };
  const service = await startService(settings, { command: image.command.join(' '), directory: image.directory });
  try {
    const statuses = await Promise.all(
      ['/readyz', '/pets', '/graphiql', '/docs', '/openapi.json'].map(async (path) => {
        const response = await fetch(service.address + path, { headers: { 'x-api-key': key } });
        return [path, response.status];
      }),
    );
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
  } finally {
    expect(await service.process.stop()).toBe(0);
  }
});
