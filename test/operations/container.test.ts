import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { path } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { buildImage } from './container.ts';

const cluster = await startCluster();

const image = buildImage();

function run(...command: string[]): string {
  const env = { PATH: path, DATABASE_URL: cluster.url, NODE_ENV: 'production' };
  return execFileSync(command[0]!, command.slice(1), { cwd: image.directory, env, encoding: 'utf8' }).trim();
}

test('what the Dockerfile builds migrates, manages keys and serves, without a development package', async () => {
  expect(image.environment).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0' });
  expect(existsSync(join(image.directory, 'node_modules/typescript'))).toBe(false);
  run('node', 'dist/src/cli/migrate.js');
  const key = run('node', 'dist/src/cli/keys.js', 'create', '--name', 'container', '--plan', 'pro');

  const settings = { ...image.environment, HOST: '127.0.0.1', DATABASE_URL: cluster.url };
  const service = await Service.start(settings, { command: image.command.join(' '), directory: image.directory });
  for (const url of ['/readyz', '/pets', '/graphiql', '/docs', '/openapi.json']) {
    const { status } = await fetch(service.address + url, { headers: { 'x-api-key': key } });
    expect([url, status]).toEqual([url, 200]);
  }
  expect(await service.stop()).toBe(0);
});
