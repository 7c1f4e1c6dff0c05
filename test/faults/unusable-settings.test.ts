import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { compiled } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { copyEmbeddedStore } from '../support/test-database.ts';

const directory = temporaryDirectory();
const embedded = await copyEmbeddedStore();

writeFileSync(join(directory, 'file'), '');
const takenBy = createServer().listen(0, '127.0.0.1');
await once(takenBy, 'listening');
const taken = String((takenBy.address() as AddressInfo).port);
atEnd(() => takenBy.close());

async function messageFor(environment: Record<string, string>): Promise<string> {
  const service = new Service({ ...embedded, ...environment });
  expect(await service.ended()).toBe(1);
  return service.output;
}

it.each([
  ['a file', () => join(directory, 'file')],
  ['below a file', () => join(directory, 'file', 'data')],
  ['nowhere that the system lets one make', () => '/proc/x'],
  ['a name too long for any directory', () => join(directory, 'x'.repeat(300))],
])('says in one line that DATA_DIR is %s', async (_what, dataDir) => {
  const start = `petstore-gateway can't start: DATA_DIR is ${JSON.stringify(dataDir())}, but must be a directory`;
  const message = await messageFor({ DATA_DIR: dataDir() });
  expect(message.slice(0, start.length)).toBe(start);
  expect(message.split('\n')).toHaveLength(1);
});

it.each([
  ['PORT', () => ({ PORT: taken }), 'a free port'],
  ['METRICS_PORT', () => ({ METRICS_PORT: taken }), 'a free port'],
  ['HOST', () => ({ HOST: '203.0.113.9' }), 'an address of this machine'],
  ['HOST', () => ({ HOST: '203.0.113.9', METRICS_PORT: '0' }), 'an address of this machine'],
  ['HOST', () => ({ HOST: 'no.such.host.invalid' }), 'an address of this machine'],
])('says in one line that it cannot listen on %s, and what would be right', async (name, settings, right) => {
  const environment: Record<string, string> = settings();
  const message = await messageFor(environment);
  expect(message.split('\n').filter((line) => !line.startsWith('{'))).toEqual([
    expect.stringContaining(`can't start: ${name} is "${environment[name]}", but must be ${right}`),
  ]);
});

it.each([['migrate.js'], ['seed.js', '--pets', '1']])('says so in one line by %s too', (command, ...options) => {
  const { status, stderr } = spawnSync(process.execPath, [`dist/src/cli/${command}`, ...options], {
    env: { ...compiled, DATA_DIR: join(directory, 'file') },
    encoding: 'utf8',
  });
  expect([status, stderr.trim().split('\n')]).toEqual([1, [expect.stringContaining('but must be a directory')]]);
});

it.each([
  ['migrate.js', '--dry-run'],
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
