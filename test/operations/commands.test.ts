import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { repository } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { awaitValue } from '../support/until.ts';
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
  const limits = 'plan: ENTERPRISE, requestsPerMinute: 2, requestsPerDay: 9';
  const creation = `mutation { createApiKey(input: { name: "client", ${limits} }) { apiKey { id } } }`;
  const { id } = (await service.graphql(creation)).body.data.createApiKey.apiKey as { readonly id: string };
  const here = ['/etc/petstore', directory] as const;
  expect(runBare(takeBlock('systemd 2', here, ['/opt/petstore', repository]))).toContain(` ${id} `);
  const rotation = takeBlock('Rotating keys 1', here, [' 7', ` ${id}`]);
  const rotated = runBare(rotation);
  const [renewed = ''] = /^petstore_\w+$/m.exec(rotated) ?? [];
  const authorization = `Bearer ${renewed}`;
  const { status } = await service.get('/pets', { authorization });
  expect([status, rotated]).toEqual([200, expect.stringMatching(/rotated/)]);
  await service.get('/pets/1', { authorization });
  const refused = await service.get('/pets', { authorization, 'x-request-id': 'refused-at-noon' });
  expect(refused.status).toBe(429);
  const [definition = ''] = rotation.split('\n');
  const refusals = takeBlock('Rotating keys 2', [' 7', ` ${id}`], [' ID', ' refused-at-noon']);
  const uses = takeBlock('Rotating keys 3');
  const refusal = / minute \(2\), .* refused-at-noon$/gm;
  // Refusals are saved each second: maybe between the two commands that show them.
  const shown = await awaitValue(
    async () => runBare([definition, refusals, uses].join('\n')),
    (output) => output.match(refusal)?.length === 2,
  );
  expect(shown.match(refusal)).toHaveLength(2);
  expect(shown).toMatch(new RegExp(`GET /pets/\\{petId\\} .* ${id} +client `));
  expect(runBare(takeBlock('Webhooks 1', here))).toContain('webhooks create');
});
