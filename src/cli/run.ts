import { explainFailure } from '../database/failed-start.ts';

/** Does what a command is for; tells why it can't be done, without a stack trace where a line says it all. */
export async function run(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(explainFailure(error));
    process.exitCode = 1;
  }
}
