import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Everything of one test run. The run's own process names it, so that two runs don't meet, and removes it at its end.
 */
export function runDirectory(): string {
  const directory = join(tmpdir(), `petstore-test-${process.env['PETSTORE_TEST_RUN']}`);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** An empty directory, removed when the test run ends. */
export function temporaryDirectory(): string {
  return mkdtempSync(join(runDirectory(), 'suite-'));
}
