import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import type { LoadJob, LoadResult } from './load-process.ts';

/** Sends a load from a process of its own. Throws when a response isn't a success. */
export async function load(job: LoadJob): Promise<LoadResult> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'load-process.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(job));
  const result = JSON.parse(await text(child.stdout)) as LoadResult;
  if (result.failure !== undefined) throw new Error(`${job.workload}: ${result.failure}`);
  return result;
}
