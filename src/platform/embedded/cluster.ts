import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { failureIn } from './data-directory.ts';

export function clusterDirectory(dataDir: string): string {
  return join(dataDir, 'postgres');
}

/**
 * Whether there is an embedded database in the directory, or one that is being made. Makes nothing, and throws
 * UnusableDataDirectory where the directory can't be read.
 */
export function holdsEmbeddedPostgres(dataDir: string): boolean {
  try {
    return statSync(clusterDirectory(resolve(dataDir)), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw failureIn(dataDir, error);
  }
}

/** The user whose processes have made the database; undefined where there is none. */
export function ownerOf(dataDir: string): number | undefined {
  return statSync(clusterDirectory(dataDir), { throwIfNoEntry: false })?.uid;
}

/** Whether the database in the directory was served once: until then a start makes it anew. */
export function isComplete(dataDir: string): boolean {
  return existsSync(join(clusterDirectory(dataDir), 'PG_VERSION')) && !existsSync(markerOf(dataDir));
}

/**
 * Makes the directory of the database files ready for PGlite.
 *
 * PGlite copies a new cluster file by file: if it is killed meanwhile, it would later take the partial copy for a
 * complete one. A marker file stays until the copy is complete; a copy with a marker was never served and is made
 * again. Call with the directory locked.
 */
export function prepareCluster(dataDir: string): void {
  const cluster = clusterDirectory(dataDir);
  if (existsSync(markerOf(dataDir))) rmSync(cluster, { recursive: true, force: true });
  if (!existsSync(join(cluster, 'PG_VERSION'))) writeFileSync(markerOf(dataDir), '');
  // PGlite makes its files world-readable, so the directory must not be.
  mkdirSync(cluster, { recursive: true, mode: 0o700 });
}

/** Removes the marker durably, before the new database accepts writes. */
export function confirmCluster(dataDir: string): void {
  if (!existsSync(markerOf(dataDir))) return;
  rmSync(markerOf(dataDir));
  const directory = openSync(dataDir, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function markerOf(dataDir: string): string {
  return join(dataDir, 'postgres.creating');
}
