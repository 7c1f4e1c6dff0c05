import { explainFailure } from '../database/failed-start.ts';

/** Runs a command; reports a failure, without a stack trace where the message is enough. */
export async function run(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(explainFailure(error));
    process.exitCode = 1;
  }
}
