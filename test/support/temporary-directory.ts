import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
const plentyOfBytes = 4 * 2 ** 30;

/** An empty directory, removed when the test run ends. */
export function temporaryDirectory(): string {
  return mkdtempSync(join(runDirectory(tmpdir()), 'suite-'));
}

/** An empty directory for an embedded database, removed when the test run ends. */
export function databaseDirectory(): string {
  return mkdtempSync(join(databasesDirectory(), 'suite-'));
}

/**
 * Where the files of embedded databases lie: in memory where there is plenty, because most of the time of a suite would
 * be spent on writing 40 MB to a disk.
 */
export function databasesDirectory(): string {
  return runDirectory(hasPlenty() ? memory : tmpdir());
}

export function removeDirectories(): void {
  for (const parent of [tmpdir(), memory]) rmSync(pathIn(parent), { recursive: true, force: true });
}

/** Call it in the process that begins a test run: by its name the run's directories are apart from those of others. */
export function nameRun(): void {
  process.env['PETSTORE_TEST_RUN'] = String(process.pid);
}

/** Everything of one test run, which is removed at its end. */
function runDirectory(parent: string): string {
  const directory = pathIn(parent);
  mkdirSync(directory, { recursive: true });
  return directory;
}

function pathIn(parent: string): string {
  return join(parent, `petstore-test-${process.env['PETSTORE_TEST_RUN']}`);
}

function hasPlenty(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return Math.min(bavail * bsize, freemem()) > plentyOfBytes;
  } catch {
    return false;
  }
}
