import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, it } from '@jest/globals';

import { readControlGroups } from '../../src/platform/control-group.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A machine's `/proc` and `/sys`, with these files. */
function machineWith(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

const v2 = 'sys/fs/cgroup';

it.each<[string, Readonly<Record<string, string>>, number | undefined, number | undefined]>([
  ['no control groups', {}, undefined, undefined],
  [
    'version 2 in a container',
    { 'proc/self/cgroup': '0::/', [`${v2}/cpu.max`]: '250000 100000', [`${v2}/memory.max`]: '1073741824' },
    2.5,
    1_073_741_824,
  ],
  [
    'version 2 without limits',
    { 'proc/self/cgroup': '0::/', [`${v2}/cpu.max`]: 'max 100000', [`${v2}/memory.max`]: 'max' },
    undefined,
    undefined,
  ],
  [
    'a group within another one, which has less',
    {
      'proc/self/cgroup': '0::/system.slice/petstore.service',
      [`${v2}/system.slice/cpu.max`]: '100000 100000',
      [`${v2}/system.slice/petstore.service/cpu.max`]: '300000 100000',
      [`${v2}/system.slice/petstore.service/memory.max`]: '900000000',
    },
    1,
    900_000_000,
  ],
  [
    'version 1, whose path is that of the host',
    {
      'proc/self/cgroup': '5:memory:/docker/1f\n4:cpu,cpuacct:/docker/1f\n0::/',
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '150000',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': '2000000000',
    },
    1.5,
    2_000_000_000,
  ],
  [
    'version 1 without limits',
    {
      'proc/self/cgroup': '5:memory:/\n4:cpu,cpuacct:/',
      'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1',
      'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712',
    },
    undefined,
    undefined,
  ],
])('the limits of a process are those of all its control groups: %s', (_what, files, processors, memoryBytes) => {
  expect(readControlGroups(machineWith(files))).toEqual({ processors, memoryBytes });
});
