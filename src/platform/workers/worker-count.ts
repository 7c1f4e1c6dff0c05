import { availableParallelism, totalmem } from 'node:os';

import { readControlGroups } from '../control-group.ts';

/** How many workers a machine carries, and what decides it, in words. */
export interface WorkerCount {
  readonly count: number;
  readonly reason: string;
}

/** A worker under the worst load that its bounds allow. */
const workerBytes = 700e6;
/** The primary, and what the system needs. */
const otherBytes = 200e6;
/** More than that one primary isn't tried with. */
const maxWorkers = 16;

/**
 * As many as the processors, the memory and the control groups of this process allow, and at most 16. `besideBytes` is
 * what other processes beside the workers take.
 */
export function countWorkers(
  besideBytes = 0,
  root = '/',
  machine = { processors: availableParallelism(), memoryBytes: totalmem() },
): WorkerCount {
  const group = readControlGroups(root);
  const bytes = Math.min(group.memoryBytes ?? Infinity, machine.memoryBytes);
  const memory = group.memoryBytes === bytes ? "the control group's memory" : 'the memory';
  const gigabytes = (bytes / 1e9).toFixed(1);
  const limits: readonly (readonly [number, string])[] = [
    // Node counts the quota, too, but doesn't say so.
    [Math.floor(group.processors ?? Infinity), `the control group's quota of ${group.processors ?? 0} processors`],
    [machine.processors, 'the processors that this process may use'],
    [
      (bytes - otherBytes - besideBytes) / workerBytes,
      `${memory} of ${gigabytes} GB, of which each worker may need 0.7`,
    ],
    [maxWorkers, 'the most that are started'],
  ];
  const [least, reason] = limits.reduce((a, b) => (b[0] < a[0] ? b : a));
  return { count: Math.max(1, Math.floor(least)), reason };
}
