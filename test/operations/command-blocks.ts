import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { afterAll, expect } from '@jest/globals';

import { path, repository } from '../support/running-command.ts';
import { replaceIn, type Replacements } from './guide.ts';

/** The test file here that runs a block of commands, or why none can. */
type Runner = { readonly test: string } | { readonly notHere: string };

const needsPackages = { notHere: 'It installs packages; `.ci/run` begins with the same commands.' };

/** Every block of commands in README.md, A-DAY.md and OPERATIONS.md, by its page or its heading, and its number there. */
export const runners = {
  'README 1': { test: 'readme' },
  'README 2': { test: 'readme' },
  'README 3': { test: 'readme' },
  'README 4': { test: 'readme' },
  'README 5': { test: 'readme' },
  'README 6': { test: 'readme' },
  'README 7': needsPackages,
  'README 8': { notHere: 'For contributors: one never ends, and `.ci/run` runs the other.' },
  'A-DAY 1': needsPackages,
  'A-DAY 2': { test: 'day' },
  'A-DAY 3': { test: 'day' },
  'A-DAY 4': { test: 'day' },
  'A-DAY 5': { test: 'day' },
  'Roles 1': { test: 'roles' },
  'systemd 1': { notHere: 'There is no systemd; `deployment.test.ts` runs the command of the unit.' },
  'systemd 2': { test: 'commands' },
  'A container image 1': { notHere: 'There is no container engine; `deployment.test.ts` builds and runs the image.' },
  'Metrics and alerts 1': { test: 'alerts' },
  'OpenTelemetry 1': { notHere: 'It installs packages; package.json here has the same.' },
  'OpenTelemetry 2': { test: 'traces' },
  'Backup and restore 1': { test: 'roles' },
  'Backup and restore 2': { test: 'backup' },
  'Backup and restore 3': { test: 'recovery' },
  'Backup and restore 4': { test: 'recovery' },
  'Large tables 1': { test: 'indexes' },
  'Rotating keys 1': { test: 'commands' },
  'Rotating keys 2': { test: 'commands' },
  'Rotating keys 3': { test: 'commands' },
  'Webhooks 1': { test: 'commands' },
  'From the embedded database to a server 1': { test: 'backup' },
} as const satisfies Readonly<Record<string, Runner>>;

type BlockName = keyof typeof runners;

/** The texts of all blocks of commands, by the names above; continued lines are joined. */
export const blocks: ReadonlyMap<string, string> = new Map([
  ...blocksIn('README', read('README.md')),
  ...blocksIn('A-DAY', read('.github/A-DAY.md')),
  ...read('.github/OPERATIONS.md')
    .split('\n## ')
    .flatMap((section) => blocksIn(section.slice(0, section.indexOf('\n')), section)),
]);

const taken = new Set<BlockName>();

afterAll(() => {
  const test = basename(expect.getState().testPath!, '.test.ts');
  const own = Object.entries<Runner>(runners).filter(([, runner]) => 'test' in runner && runner.test === test);
  expect(own.map(([name]) => name).filter((name) => !taken.has(name as BlockName))).toEqual([]);
});

/** A block that the calling test runs. Fails when one of the texts to be replaced isn't in it. */
export function takeBlock(name: BlockName, ...replacements: Replacements): string {
  taken.add(name);
  return replaceIn(name, blocks.get(name) ?? '', replacements);
}

/** The commands of such a block, one for each line, without comments. */
export function takeCommands(name: BlockName, ...replacements: Replacements): string[] {
  const lines = takeBlock(name, ...replacements).split('\n');
  return lines.map((line) => line.replace(/\s+#\s.*$/, '').trim()).filter((line) => line !== '');
}

/** Runs commands in a shell that has PATH and HOME alone: a block that needs another variable must set it. */
export function runBare(commands: string, directory = repository): string {
  const env = { PATH: path, HOME: process.env['HOME'] };
  return execFileSync('bash', ['-euc', commands], { cwd: directory, env, encoding: 'utf8', stdio: 'pipe' });
}

function read(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}

function blocksIn(name: string, text: string): [string, string][] {
  return Array.from(text.matchAll(/(?<=^```sh\n)[^]*?(?=\n```$)/gm), ([block], index) => [
    `${name} ${index + 1}`,
    block.replaceAll(/\\\n\s*/g, ''),
  ]);
}
