import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

import { spawnChild } from './child-process.ts';

export const repository = join(import.meta.dirname, '../..');

/** `node` and `npm` are those that run the tests; the variable SERVICE_NODE names another Node. */
export const path = `${dirname(process.env['SERVICE_NODE'] ?? process.execPath)}:${process.env['PATH'] ?? ''}`;

/** Where Node keeps what it has compiled: otherwise each start takes a third longer. */
export const compiled = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '' };

/** A shell command that runs beside the test, and what it prints. It ends with its test file at the latest. */
export class RunningCommand {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly #lines: string[] = [];

  constructor(command: string, environment: Readonly<Record<string, string>>, directory = repository) {
    this.#child = spawnChild('sh', ['-c', `exec ${command}`], {
      cwd: directory,
      env: { PATH: path, HOME: process.env['HOME'] ?? '', ...compiled, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'close');
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#lines.push(line);
        this.#child.emit('line');
      });
    }
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Everything on both streams so far. */
  get output(): string {
    return this.#lines.join('\n');
  }

  /** Resolves with the first line that matches; fails when the command ends without one. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    const ended = this.#exited.then(() => true);
    for (let seen = 0; ;) {
      for (; seen < this.#lines.length; seen += 1) {
        const match = pattern.exec(this.#lines[seen]!);
        if (match !== null) return match;
      }
      const isOver = await Promise.race([once(this.#child, 'line').then(() => false), ended]);
      if (isOver && seen === this.#lines.length) throw new Error(`Ended without ${String(pattern)}:\n${this.output}`);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves with the exit code, or the signal that ended it. */
  async ended(): Promise<unknown> {
    const [code, signal] = await this.#exited;
    return code ?? signal;
  }

  /** Ends it with SIGTERM, if it still runs; resolves with the exit code, or the signal that ended it. */
  stop(): Promise<unknown> {
    this.signal('SIGTERM');
    return this.ended();
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }
}
