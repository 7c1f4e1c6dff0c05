import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, it } from '@jest/globals';

import { countWorkers } from '../../../src/platform/workers/worker-count.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const machine = { processors: 32, memoryBytes: 64e9 };

function rootWith(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

const group = (cpu: string, memory: string) => ({
  'proc/self/cgroup': '0::/',
  'sys/fs/cgroup/cpu.max': cpu,
  'sys/fs/cgroup/memory.max': memory,
});

it.each<[string, Readonly<Record<string, string>>, typeof machine, number, RegExp]>([
  ['a large machine', {}, machine, 16, /^the most that are started$/],
  ['a small one', {}, { processors: 4, memoryBytes: 16e9 }, 4, /^the processors/],
  [
    'a quota that Node knows',
    group('350000 100000', 'max'),
    { ...machine, processors: 3 },
    3,
    /^the control group's quota/,
  ],
  ['a quota, rounded down', group('350000 100000', 'max'), machine, 3, /^the control group's quota of 3.5 processors$/],
  ['less than one processor', group('50000 100000', 'max'), machine, 1, /^the control group's quota/],
  [
    "the control group's memory",
    group('max 100000', '2000000000'),
    machine,
    2,
    /^the control group's memory of 2.0 GB/,
  ],
  ['little memory', {}, { processors: 8, memoryBytes: 3e9 }, 4, /^the memory of 3.0 GB/],
  ['hardly any', {}, { processors: 8, memoryBytes: 5e8 }, 1, /^the memory of 0.5 GB/],
])('as many workers as the machine carries, and what decides it: %s', (_what, files, on, count, reason) => {
  expect(countWorkers(0, rootWith(files), on)).toEqual({ count, reason: expect.stringMatching(reason) });
});

it('the processors are those that the process may use', () => {
  const script = "console.log(require('node:os').availableParallelism())";
  const count = execFileSync('taskset', ['--cpu-list', '0', process.execPath, '--eval', script], { encoding: 'utf8' });
  expect(count).toBe('1\n');
});
