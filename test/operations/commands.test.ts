import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { repository } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { blocks, runBare, runners, takeBlock } from './command-blocks.ts';

const directory = temporaryDirectory();
const cluster = await startCluster();
const settings = ['NODE_ENV=production', `DATABASE_URL=${cluster.url}`, `WEBHOOK_SIGNING_KEY=${'a'.repeat(64)}`];
writeFileSync(join(directory, 'environment'), `${settings.join('\n')}\n`);
const service = await Service.start({}, { command: `node --env-file=${directory}/environment dist/src/main.js` });

test('each block of commands in README, A-DAY and OPERATIONS is run by a test, or the list says why none can', () => {
  expect(Object.keys(runners).toSorted()).toEqual([...blocks.keys()].toSorted());
});

test('commands manage the running service in a shell that has nothing else, by the settings of the service', async () => {
  const creation = 'mutation { createApiKey(input: { name: "client", plan: FREE }) { apiKey { id } } }';
  const { id } = (await service.graphql(creation)).body.data.createApiKey.apiKey as { readonly id: string };
  const here = ['/etc/petstore', directory] as const;
  expect(runBare(takeBlock('systemd 2', here, ['/opt/petstore', repository]))).toContain(` ${id} `);
  const rotated = runBare(takeBlock('Rotating keys 1', here, [' 7', ` ${id}`]));
  const [renewed = ''] = /^petstore_\w+$/m.exec(rotated) ?? [];
  const { status } = await service.get('/pets', { authorization: `Bearer ${renewed}` });
  expect([status, rotated]).toEqual([200, expect.stringMatching(/rotated/)]);
  expect(runBare(takeBlock('Webhooks 1', here))).toContain('webhooks create');
});
