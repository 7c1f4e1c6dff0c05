import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type * as Sqlite from 'node:sqlite';

const SQLITE_BUSY = 5;

let sqlite: typeof Sqlite | undefined;

/** A lock on a data directory that the operating system releases when the process ends, even by a crash. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Locks a data directory for this process, or returns undefined when this or another process holds it.
 *
 * The lock is SQLite's on the file `lock`, since Node has no flock of its own. POSIX releases such a lock when the
 * process closes *any* descriptor of the file: nothing else in the process may open it, not even to copy the directory.
 * A process that can read the file can lock it, so only its owner may.
 */
export function tryLockDirectory(dataDir: string): DirectoryLock | undefined {
  sqlite ??= loadSqlite();
  const path = join(dataDir, 'lock');
  const umask = process.umask(0o077);
  try {
    // A restored directory may let others read it.
    if (existsSync(path)) chmodSync(path, 0o600);
    return lockFile(new sqlite.DatabaseSync(path));
  } finally {
    process.umask(umask);
  }
}

function lockFile(database: Sqlite.DatabaseSync): DirectoryLock | undefined {
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: unknown }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}

/** Node warns while it loads SQLite, and only then, that SQLite is experimental; operators can do nothing about it. */
function loadSqlite(): typeof Sqlite {
  const emitWarning = process.emitWarning.bind(process);
  const filtered = (...args: Parameters<typeof emitWarning>): void => {
    if (!String(args[0]).startsWith('SQLite is an experimental feature')) emitWarning(...args);
  };
  process.emitWarning = filtered as typeof process.emitWarning;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
