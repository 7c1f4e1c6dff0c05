import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { limitMemory } from '../support/memory-limit.ts';
import { repository, RunningCommand } from '../support/running-command.ts';
import { startCluster } from '../support/started-cluster.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { runBare, takeBlock } from './command-blocks.ts';

/** A clone in which everything is installed and built, and nothing has been started. */
function cloneHere(): string {
  const directory = temporaryDirectory();
  for (const name of readdirSync(repository).filter((each) => !['.git', '.data'].includes(each)))
    symlinkSync(join(repository, name), join(directory, name));
  return directory;
}

/** The first shell: a start on a free port. */
async function startIn(directory: string, commands: string, wrap = (command: string) => command) {
  writeFileSync(join(directory, 'start.sh'), commands.replace('npm ci && ', '').replace('npm start', 'exec npm start'));
  const start = new RunningCommand(wrap('bash -eu start.sh'), { PORT: '0' }, directory);
  const [, address = ''] = await start.line(/^The store is open at (\S+),/);
  return { start, address };
}

/** The second shell: what the README says to try, one block after another. */
function tryOut(address: string): string {
  const port = ['http://127.0.0.1:4000', address] as const;
  const curl = ['curl ', 'curl --silent --show-error '] as const;
  return [
    takeBlock('README 3', port, curl),
    takeBlock('README 4', port, curl),
    takeBlock('README 5'),
    takeBlock('README 6', port, curl),
  ].join('\n');
}

function expectResponses(output: string): void {
  const bodies = [
    /\{"data":\{"pets":\{"edges":\[\{"node":\{"name":"[^"]+","status":"\w+","category":\{"name":/,
    /\{"data":\{"createPet":\{"pet":\{"id":"\d+","name":"Bella"/,
    /^Manages API keys/m,
    /^HTTP\/1.1 200 OK\r$[^]*^\[\{"id":\d+/m,
    /HTTP\/1.1 201 Created\r$[^]*^\{"id":\d+,[^\n]*"name":"Bella"/m,
    /\{"code":"validation_failed","message":"quantity: [^}]*"status":400\}/,
  ];
  for (const body of bodies) expect(output).toMatch(body);
}

test('the README is followed word by word, in a control group of 768 MB, on the embedded database', async () => {
  const directory = cloneHere();
  const limit = limitMemory(768 * 2 ** 20);
  atEnd(() => limit.remove());
  const [command = ''] = takeBlock('README 1').split('\n');
  const { start, address } = await startIn(directory, command, (each) => limit.wrap(each));
  writeFileSync(join(directory, 'try.sh'), tryOut(address));
  expectResponses(runBare(limit.wrap('bash -eu try.sh'), directory));
  expect(await start.stop()).toBe(0);
});

test('and on a PostgreSQL server', async () => {
  const directory = cloneHere();
  const { url } = await startCluster();
  const commands = takeBlock('README 2', ['postgresql://user:password@host/database', url]);
  const { start, address } = await startIn(directory, commands);
  const [inEachShell = ''] = commands.split('\n');
  runBare(`${inEachShell}\nnpm run seed -- --pets 100`, directory);
  expectResponses(runBare(`${inEachShell}\n${tryOut(address)}`, directory));
  expect(await start.stop()).toBe(0);
});
