import { runKeys } from '../../src/cli/keys/run.ts';
import { commandIn, commandProcess, type CommandRun, type Environment } from './run-command.ts';

export function keysIn(environment: Environment, ...args: readonly string[]): Promise<CommandRun> {
  return commandIn(runKeys, environment, args);
}

export function keysProcess(environment: Environment, ...args: readonly string[]): Promise<CommandRun> {
  return commandProcess('keys', environment, args);
}
