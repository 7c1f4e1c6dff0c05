import { execFile } from 'node:child_process';
import { mock } from 'node:test';

import { runKeys } from '../../src/cli/keys/run.ts';

const script = new URL('../../src/cli/keys.ts', import.meta.url).pathname;

type Environment = Readonly<Record<string, string>>;

/** What a run of `keys` has left. */
export interface KeysRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in this process, on connections of its own; one command at a time. */
export async function keysIn(environment: Environment, ...args: readonly string[]): Promise<KeysRun> {
  const texts = { log: '', error: '' };
  const written = (['log', 'error'] as const).map((name) =>
    mock.method(console, name, (line: string) => void (texts[name] += `${line}\n`)),
  );
  try {
    const exitCode = await runKeys(args, environment);
    return { exitCode, stdout: texts.log, stderr: texts.error };
  } finally {
    for (const { mock: each } of written) each.restore();
  }
}

/** Runs the command line as operators do, in a process of its own, which takes a second. */
export function keysProcess(environment: Environment, ...args: readonly string[]): Promise<KeysRun> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return new Promise((resolve) => {
    const env = { PATH, NODE_COMPILE_CACHE, ...environment };
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
