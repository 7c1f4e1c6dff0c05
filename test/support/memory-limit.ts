import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A memory limit for a command, and how to remove it when the command has ended. */
export interface MemoryLimit {
  /** Whether it is a control group, which counts all that the command has. */
  readonly isControlGroup: boolean;
  /** The command, to be run by a shell. */
  wrap(command: string): string;
  remove(): void;
}

/**
 * The two versions of control groups: where those of memory are, the line of `/proc/self/cgroup`, the file of the
 * limit.
 */
const versions = [
  { root: '/sys/fs/cgroup', line: /^0::(.*)$/m, limit: 'memory.max' },
  { root: '/sys/fs/cgroup/memory', line: /^\d+:memory:(.*)$/m, limit: 'memory.limit_in_bytes' },
] as const;

/**
 * A control group of so many bytes, beyond which the kernel ends the command; where the machine lets us have none, a
 * limit of V8's heap.
 */
export function limitMemory(bytes: number): MemoryLimit {
  const own = readFileSync('/proc/self/cgroup', 'utf8');
  for (const { root, line, limit } of versions) {
    const group = join(root, line.exec(own)?.[1] ?? '', `petstore-test-${process.pid}-${bytes}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    if (existsSync(join(group, limit))) {
      writeFileSync(join(group, limit), String(bytes));
      return {
        isControlGroup: true,
        wrap: (command) => `sh -c 'echo $$ > ${join(group, 'cgroup.procs')} && exec ${command}'`,
        remove: () => rmdirSync(group),
      };
    }
    rmdirSync(group);
  }
  return {
    isControlGroup: false,
    wrap: (command) => command.replace(/^node /, `node --max-old-space-size=${Math.floor(bytes / 2 ** 20)} `),
    remove: () => undefined,
  };
}
