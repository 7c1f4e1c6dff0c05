import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { spawnChild } from '../support/child-process.ts';

export const repository = join(import.meta.dirname, '../..');

/** The key for administrators of every service that is started here. */
export const adminKey = 'a-key-for-administrators-in-the-tests';

/** A shell command of the operations guide, run as it stands there; `node` is the one that runs the tests. */
export class RunningCommand {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly #lines: string[] = [];

  constructor(command: string, environment: Readonly<Record<string, string>>, directory = repository) {
    const path = `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`;
    this.#child = spawnChild('sh', ['-c', `exec ${command}`], {
      cwd: directory,
      env: { PATH: path, HOME: process.env['HOME'] ?? '', ...environment },
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

  /** Ends it with SIGTERM, if it still runs; resolves with the exit code, or the signal that ended it. */
  stop(): Promise<unknown> {
    this.#child.kill('SIGTERM');
    return this.ended();
  }

  /** Resolves with the exit code, or the signal that ended it. */
  async ended(): Promise<unknown> {
    const [code, signal] = await this.#exited;
    return code ?? signal;
  }
}

/** The built service on a port of its own; resolves with its address when it listens. */
export async function startService(
  environment: Readonly<Record<string, string>>,
  { command = 'node dist/src/main.js', directory = repository } = {},
): Promise<{ readonly process: RunningCommand; readonly address: string }> {
  const settings = { NODE_ENV: 'production', PORT: '0', ADMIN_API_KEY: adminKey, ...environment };
  const service = new RunningCommand(command, settings, directory);
  const [, address = ''] = await service.line(/^The store is open at (\S+),/);
  return { process: service, address };
}
