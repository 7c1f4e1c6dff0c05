import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MeasuredProcess } from './measured-process.ts';

const starts = 3;
const key = 'bench-key-of-an-embedded-store-used-once';

/**
 * Milliseconds from the start of the process to its first response over GraphQL, on an existing embedded store.
 *
 * The median of a few starts; each has all cores.
 */
export async function measureStartUp(command: readonly string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  try {
    await millisToFirstResponse(command, directory);
    const millis: number[] = [];
    for (let start = 0; start < starts; start += 1) millis.push(await millisToFirstResponse(command, directory));
    return millis.toSorted((a, b) => a - b)[Math.floor(starts / 2)]!;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function millisToFirstResponse(command: readonly string[], dataDir: string): Promise<number> {
  const started = performance.now();
  const service = await MeasuredProcess.start(command, {
    NODE_ENV: 'production',
    DATA_DIR: dataDir,
    PORT: '0',
    ADMIN_API_KEY: key,
  });
  try {
    const response = await fetch(`${service.address}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query: '{ pets(first: 1) { edges { node { id } } } }' }),
    });
    const text = await response.text();
    if (!text.includes('"id"')) throw new Error(`The first response is ${response.status} ${text}`);
    return performance.now() - started;
  } finally {
    await service.stop();
  }
}
