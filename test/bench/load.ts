import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import type { LoadJob, LoadResult } from './load-process.ts';
import { pinned } from './measured-process.ts';

/** Sends a load from a process of its own, on these cores. Throws when a response isn't a success. */
export async function load(job: LoadJob, cores?: string): Promise<LoadResult> {
  const [file, ...parameters] = pinned([process.execPath, join(import.meta.dirname, 'load-process.ts')], cores);
  const child = spawn(file!, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(job));
  const result = JSON.parse(await text(child.stdout)) as LoadResult;
  if (result.failure !== undefined) throw new Error(`${job.workload}: ${result.failure}`);
  return result;
}
