import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/settings/config.ts';
import { explainFailure } from '../../src/settings/failed-start.ts';
import { listen } from '../support/listen.ts';
import { compiled } from '../support/running-command.ts';
import { startCluster } from '../support/started-cluster.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { startTestApp } from '../support/test-app.ts';

const directory = temporaryDirectory();

writeFileSync(join(directory, 'file'), '');
const taken = String(await listen(createServer()));
const { url: DATABASE_URL } = await startCluster();

it.each([
  ['a file', () => join(directory, 'file')],
  ['below a file', () => join(directory, 'file', 'data')],
  ['nowhere that the system lets one make', () => '/proc/x'],
  ['a name too long for any directory', () => join(directory, 'x'.repeat(300))],
])('says in one line that DATA_DIR is %s', async (_what, dataDir) => {
  const start = createApp(readConfig({ LOG_LEVEL: 'silent', DATA_DIR: dataDir() }));
  const message = await start.then(() => 'It has started.', explainFailure);
  expect(message).toMatch(/^.* must be a directory .*$/);
  expect(message).toContain(`DATA_DIR is ${JSON.stringify(dataDir())}, but`);
});

it.each([
  ['PORT', () => ({ PORT: taken }), 'a free port'],
  ['METRICS_PORT', () => ({ METRICS_PORT: taken }), 'a free port'],
  ['HOST', () => ({ HOST: '203.0.113.9' }), 'an address of this machine'],
  ['HOST', () => ({ HOST: '203.0.113.9', METRICS_PORT: '0' }), 'an address of this machine'],
  ['HOST', () => ({ HOST: 'no.such.host.invalid' }), 'an address of this machine'],
])('says in one line that it cannot listen on %s, and what would be right', async (name, settings, right) => {
  const environment: Record<string, string> = settings();
  const { app } = await startTestApp({ DATABASE_URL, PORT: '0', ...environment });
  const message = await app.listen().then(() => 'It listens.', explainFailure);
  expect(message).toMatch(new RegExp(`^${name} is "${environment[name]}", but must be ${right}.*$`));
});

it.each([
  ['must be a directory', 'main.js'],
  ['holds no embedded database', 'cli/migrate.js'],
  ['holds no embedded database', 'cli/seed.js', '--pets', '1'],
])('that DATA_DIR %s, %s says in one line', (reason, ...command) => {
  const { status, stderr } = spawnSync(process.execPath, [`dist/src/${command[0]}`, ...command.slice(1)], {
    env: { ...compiled, DATA_DIR: join(directory, 'file') },
    encoding: 'utf8',
  });
  expect([status, stderr.trim().split('\n')]).toEqual([1, [expect.stringContaining(reason)]]);
});

it.each([
  ['migrate.js', 'down'],
  ['seed.js', '--pts'],
])(
  'an option that %s does not have is refused with its usage and exit code 2, before anything is done: %s',
  (command, option) => {
    const dataDir = join(directory, 'untouched');
    const { status, stdout, stderr } = spawnSync(process.execPath, [`dist/src/cli/${command}`, option], {
      env: { ...compiled, DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    expect({ status, stdout, isMade: existsSync(dataDir) }).toEqual({ status: 2, stdout: '', isMade: false });
    expect(stderr).toMatch(
      new RegExp(`^Un\\w+ \\w+ '${option}'.*\\.\\n\\nusage: npm run ${command.slice(0, -3)}`, 's'),
    );
  },
);
