import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** An unusable data directory. The message says what is wrong with DATA_DIR, and what would be right. */
export class UnusableDataDirectory extends Error {
  override readonly name = 'UnusableDataDirectory';
}

/** Creates the data directory if it doesn't exist, and returns its real path. */
export function prepareDataDirectory(dataDir: string): string {
  makeDirectory(resolve(dataDir));
  return realpathSync(dataDir);
}

/** The error to throw for a failure in the data directory: system errors become UnusableDataDirectory. */
export function failureIn(dataDir: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  return new UnusableDataDirectory(
    `DATA_DIR is ${JSON.stringify(dataDir)}, but must be a directory that this user can write to, or can make: ` +
      `${error.message}.`,
    { cause: error },
  );
}

/**
 * Not with Node's own `recursive`: it never comes back where the system refuses with ENOENT, as it does below /proc.
 */
function makeDirectory(path: string): void {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
