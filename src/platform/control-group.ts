import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The limits of this process's control groups; undefined where nothing is limited, or can't be read. */
export interface ControlGroupLimits {
  /** Of processor time, in processors: 1.5 is one and a half. */
  readonly processors: number | undefined;
  readonly memoryBytes: number | undefined;
}

/**
 * Reads the limits of Linux' control groups, of version 2 and of version 1: the least of the group and of those that it
 * is in. `root` is where `/proc` and `/sys` are.
 */
export function readControlGroups(root = '/'): ControlGroupLimits {
  const groups = (textAt(join(root, 'proc/self/cgroup')) ?? '').trim().split('\n');
  const limits = groups.map((group) => limitsOf(join(root, 'sys/fs/cgroup'), group));
  return {
    processors: least(limits.map(({ processors }) => processors)),
    memoryBytes: least(limits.map(({ memoryBytes }) => memoryBytes)),
  };
}

/** A line of `/proc/self/cgroup`: its number, its controllers (none in version 2), and its path. */
function limitsOf(mount: string, line: string): ControlGroupLimits {
  const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
  if (controllers === '') {
    return { processors: leastAt(mount, path, processorsOf), memoryBytes: leastAt(mount, path, memoryOf) };
  }
  const names = controllers.split(',');
  return {
    processors: names.includes('cpu') ? leastAt(join(mount, 'cpu'), path, processorsOfVersion1) : undefined,
    memoryBytes: names.includes('memory') ? leastAt(join(mount, 'memory'), path, memoryOfVersion1) : undefined,
  };
}

function processorsOf(folder: string): number | undefined {
  return quotient(textAt(join(folder, 'cpu.max')));
}

function memoryOf(folder: string): number | undefined {
  return wholeNumber(textAt(join(folder, 'memory.max')));
}

function processorsOfVersion1(folder: string): number | undefined {
  return quotient(`${textAt(join(folder, 'cpu.cfs_quota_us'))} ${textAt(join(folder, 'cpu.cfs_period_us'))}`);
}

function memoryOfVersion1(folder: string): number | undefined {
  return wholeNumber(textAt(join(folder, 'memory.limit_in_bytes')));
}

/** In a container the path may be that of the host: then the mount itself is the group. */
function leastAt(mount: string, path: string, read: (folder: string) => number | undefined): number | undefined {
  const values = [read(mount)];
  for (let each = path; each !== '/' && each !== '.'; each = dirname(each)) values.push(read(join(mount, each)));
  return least(values);
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Of `150000 100000`; `max 100000` and `-1 100000` are no limit. */
function quotient(text: string | undefined): number | undefined {
  const [, quota, period] = /^(\d+) (\d+)$/.exec(text?.trim() ?? '') ?? [];
  return quota === undefined ? undefined : Number(quota) / Number(period);
}

/** Version 1 writes the largest number of pages for no limit. */
function wholeNumber(text: string | undefined): number | undefined {
  const value = /^\d+$/.test(text?.trim() ?? '') ? Number(text) : Infinity;
  return value < Number.MAX_SAFE_INTEGER ? value : undefined;
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
