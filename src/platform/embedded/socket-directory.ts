import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { PostgresAddress } from '../postgres/index.ts';
import { UnusableDataDirectory } from './data-directory.ts';

const port = 5432;

/** The size of `sun_path` without its closing zero. */
const maxSocketPathBytes = process.platform === 'linux' ? 107 : 103;

/**
 * The address that belongs to a data directory, given by its real path, so that every process comes to the same one.
 */
export function addressOf(realDataDir: string): PostgresAddress {
  return { host: socketDirectory(realDataDir), port, user: 'postgres', database: 'postgres' };
}

/** Where node-postgres looks for the socket in its directory. */
export function socketPath(directory: string): string {
  return join(directory, `.s.PGSQL.${port}`);
}

/** Creates the socket's directory for its owner only: a client of the socket is the database's superuser. */
export function prepareSocketDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stats = lstatSync(directory);
  assertOwnDirectory(directory, stats);
  if ((stats.mode & 0o077) !== 0) chmodSync(directory, 0o700);
}

/**
 * Throws when a user other than the database's `owner`, or this one, may have put the socket there; a missing directory
 * passes.
 */
export function assertTrustedSocketDirectory(directory: string, owner: number | undefined): void {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isDirectory() && stats.uid === owner)) return;
  assertOwnDirectory(directory, stats);
}

function socketDirectory(realDataDir: string): string {
  const inside = join(realDataDir, 'socket');
  if (fits(inside)) return inside;
  const hash = createHash('sha256').update(realDataDir).digest('hex').slice(0, 16);
  const outside = join(tmpdir(), `postgres-${process.getuid?.() ?? 0}-${hash}`);
  if (fits(outside)) return outside;
  throw new UnusableDataDirectory(
    `The path of the data directory ${realDataDir} is too long for a Unix socket (${maxSocketPathBytes} bytes with the ` +
      `socket's name), and so is that of ${outside}. Set DATA_DIR or TMPDIR to a shorter path.`,
  );
}

function fits(directory: string): boolean {
  return Buffer.byteLength(socketPath(directory)) <= maxSocketPathBytes;
}

function assertOwnDirectory(directory: string, stats: Stats): void {
  const owner = process.getuid?.() ?? stats.uid;
  if (stats.isDirectory() && stats.uid === owner) return;
  throw new UnusableDataDirectory(
    `${directory} should be a directory of user ${owner} for the database's socket, but it is ` +
      `${stats.isDirectory() ? `one of user ${stats.uid}` : 'no directory'}. Remove it.`,
  );
}
