import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { adminKey, startService } from './measured-service.ts';
import { median } from './report.ts';

const starts = 3;

/**
 * Milliseconds from the start of the process to its first response over GraphQL, on an existing embedded store.
 *
 * The median of a few starts; each has all cores.
 */
export async function measureStartUp(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  try {
    await millisToFirstResponse(directory);
    const millis: number[] = [];
    for (let start = 0; start < starts; start += 1) millis.push(await millisToFirstResponse(directory));
    return median(millis);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function millisToFirstResponse(dataDir: string): Promise<number> {
  const started = performance.now();
  const service = await startService({ DATA_DIR: dataDir });
  try {
    const response = await fetch(`${service.address}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` },
      body: JSON.stringify({ query: '{ pets(first: 1) { edges { node { id } } } }' }),
    });
    const text = await response.text();
    if (!text.includes('"id"')) throw new Error(`The first response is ${response.status} ${text}`);
    return performance.now() - started;
  } finally {
    await service.stop();
  }
}
