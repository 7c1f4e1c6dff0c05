import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { runBare, takeBlock } from './command-blocks.ts';
import { guideSql } from './guide.ts';

const directory = temporaryDirectory();

const cluster = await startCluster();

test('a day by the page: migrate, start, the first key and client, a backup, a new secret, the end of the key', async () => {
  execFileSync('psql', ['--quiet', cluster.url], { input: guideSql('Roles') });
  for (const [file, user] of [
    ['owner', 'petstore_migrations:one'],
    ['environment', 'petstore_1:two'],
  ] as const) {
    const url = `postgresql://${user}@127.0.0.1:${cluster.port}/petstore`;
    writeFileSync(join(directory, file), `NODE_ENV=production\nDATABASE_URL=${url}\n`);
  }
  const here = ['/etc/petstore', directory] as const;
  const [migrate = '', start = ''] = takeBlock('A-DAY 2', here).split('\n');
  runBare(migrate);
  const service = await Service.start({}, { command: start });
  const curl = ['curl ', 'curl --silent --write-out " %{http_code} $KEY" '] as const;
  const first = takeBlock('A-DAY 3', here, ['http://127.0.0.1:4000', service.address], curl);
  const [body, status, key = ''] = runBare(first).split(' ');
  expect([body, status]).toEqual(['[]', '200']);
  runBare(takeBlock('A-DAY 4', here), directory);
  const [renew = '', revoke = ''] = takeBlock('A-DAY 5', here).split('\n');
  const renewed = runBare(renew).trim();
  const statusOf = async (secret: string): Promise<number> =>
    (await service.get('/pets', { authorization: `Bearer ${secret}` })).status;
  expect(await Promise.all([statusOf(key), statusOf(renewed)])).toEqual([200, 200]);
  runBare(revoke);
  await until(async () => (await statusOf(key)) === 401 && (await statusOf(renewed)) === 401);
  expect(await service.stop()).toBe(0);
});
