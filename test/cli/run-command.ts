import { execFile } from 'node:child_process';
import { mock } from 'node:test';

export type Environment = Readonly<Record<string, string>>;

/** What a run of a command has left. */
export interface CommandRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

type RunCommand = (args: readonly string[], environment: Environment) => Promise<number>;

/** Runs a command line in this process, on connections of its own; one command at a time. */
export async function commandIn(
  run: RunCommand,
  environment: Environment,
  args: readonly string[],
): Promise<CommandRun> {
  const texts = { log: '', error: '' };
  const written = (['log', 'error'] as const).map((name) =>
    mock.method(console, name, (line: string) => void (texts[name] += `${line}\n`)),
  );
  try {
    const exitCode = await run(args, environment);
    return { exitCode, stdout: texts.log, stderr: texts.error };
  } finally {
    for (const { mock: each } of written) each.restore();
  }
}

/** Runs a script of `src/cli` as operators do, in a process of its own, which takes a second. */
export function commandProcess(name: string, environment: Environment, args: readonly string[]): Promise<CommandRun> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const script = new URL(`../../src/cli/${name}.ts`, import.meta.url).pathname;
  return new Promise((resolve) => {
    const env = { PATH, NODE_COMPILE_CACHE, ...environment };
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
