import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { path, repository } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { guideBlock } from './guide.ts';

const directory = temporaryDirectory();

const cluster = await startCluster();

test('a day by the page: migrate, start, the first key and client, a backup, a new secret, the end of the key', async () => {
  const page = readFileSync(join(repository, '.github/A-DAY.md'), 'utf8');
  const [install = '', ...blocks] = [...page.matchAll(/(?<=```sh\n)[^]*?(?=\n```)/g)].map(String);
  execFileSync('psql', ['--quiet', cluster.url], { input: guideBlock('Roles', 'sql') });
  for (const [file, user] of [
    ['owner', 'petstore_migrations:one'],
    ['environment', 'petstore_1:two'],
  ] as const) {
    const url = `postgresql://${user}@127.0.0.1:${cluster.port}/petstore`;
    writeFileSync(join(directory, file), `NODE_ENV=production\nDATABASE_URL=${url}\n`);
  }
  const here = (commands: string): string => commands.replaceAll('/etc/petstore', directory);
  const [, migrate = '', start = ''] = here(install).split('\n');
  const run = (commands: string, cwd = repository): string =>
    execFileSync('bash', ['-ec', commands], {
      cwd,
      // A shell that has nothing else: a block that needs a variable must set it.
      env: { PATH: path, HOME: process.env['HOME'] },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  run(migrate);
  const service = await Service.start({}, { command: start });
  const [first = '', backup = '', rotate = ''] = blocks.map((block) =>
    here(block)
      .replace('http://127.0.0.1:4000', service.address)
      .replace('curl ', 'curl --silent --write-out " %{http_code} $KEY" '),
  );
  const [body, status, key = ''] = run(first).split(' ');
  expect([body, status]).toEqual(['[]', '200']);
  run(backup, directory);
  const [renew = '', revoke = ''] = rotate.split('\n');
  const renewed = run(renew).trim();
  const statusOf = async (secret: string): Promise<number> =>
    (await service.get('/pets', { authorization: `Bearer ${secret}` })).status;
  expect(await Promise.all([statusOf(key), statusOf(renewed)])).toEqual([200, 200]);
  run(revoke);
  await until(async () => (await statusOf(key)) === 401 && (await statusOf(renewed)) === 401);
  expect(await service.stop()).toBe(0);
});
