import { execFile } from 'node:child_process';

const script = new URL('../../src/cli/keys.ts', import.meta.url).pathname;

/** What a run of `keys` has left. */
export interface KeysRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as operators do, in a process of its own. */
export function runKeys(environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<KeysRun> {
  const { PATH } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { env: { PATH, ...environment } }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
