import { spawn, type ChildProcess } from 'node:child_process';

import { afterAll } from '@jest/globals';

const children = new Set<ChildProcess>();

afterAll(() => {
  for (const child of children) {
    child.kill('SIGKILL');
    for (const stream of child.stdio) stream?.destroy();
  }
});

/**
 * Node's `spawn`, for a process that ends with its test file at the latest: left by a failed test, it'd keep Jest from
 * ending.
 */
export const spawnChild = ((...parameters: Parameters<typeof spawn>) => {
  const child = spawn(...parameters);
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}) as typeof spawn;
