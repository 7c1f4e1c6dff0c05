import { realpathSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

import { inBackground } from '../background.ts';
import { isComplete, ownerOf, prepareCluster } from './cluster.ts';
import { failureIn, prepareDataDirectory, UnusableDataDirectory } from './data-directory.ts';
import { assertEnoughMemory } from './memory.ts';
import { tryLockDirectory, type DirectoryLock } from './directory-lock.ts';
import { startEngineThread } from './engine-thread.ts';
import { addressOf, assertTrustedSocketDirectory, prepareSocketDirectory, socketPath } from './socket-directory.ts';
import type { PostgresAddress } from '../postgres/index.ts';

/** A running process, this one or another, serves the data directory. */
export class EmbeddedPostgresInUse extends Error {
  override readonly name = 'EmbeddedPostgresInUse';

  constructor(dataDir: string) {
    super(
      `The data directory ${dataDir} is in use: a running process serves the embedded database in it. ` +
        'Stop that process first, or set DATA_DIR to another directory.',
    );
  }
}

/** Another user's database, who couldn't write to the files that this one, root, would make. */
export class NotOwnDatabase extends UnusableDataDirectory {
  constructor(dataDir: string, owner: number, user: number) {
    super(
      `DATA_DIR is ${JSON.stringify(dataDir)}, whose database belongs to user ${owner}, and this is user ${user}: run it as ` +
        'that user. While the service runs, root can run commands beside it.',
    );
  }
}

/** A PostgreSQL in a thread of this process, which node-postgres reaches like any other. */
export interface EmbeddedPostgres {
  readonly connection: PostgresAddress;
  /** Calls the listener once, when the engine ends without `close`; also when it has already ended. */
  onExit(listener: (error: Error) => void): void;
  /** Ends the connections, rolls back what is open, stops the engine and releases the directory's lock. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts PGlite in a worker thread behind a Unix socket, on the files in `<dataDir>/postgres`.
 *
 * Acknowledged writes survive a killed process, not necessarily a power cut. All connections share one backend: its
 * settings, named statements and advisory locks too. Throws EmbeddedPostgresInUse when the directory is served already,
 * UnusableDataDirectory when it can't be made or written to, or has no database that was served once and `mustExist` is
 * true, and NotEnoughMemory.
 */
export async function startEmbeddedPostgres(dataDir: string, mustExist = false): Promise<EmbeddedPostgres> {
  let lock: DirectoryLock | undefined;
  try {
    const realDataDir = mustExist ? realpathSync(dataDir) : prepareDataDirectory(dataDir);
    assertOwnDatabase(realDataDir);
    lock = tryLockDirectory(realDataDir);
    if (lock === undefined) throw new EmbeddedPostgresInUse(realDataDir);
    const isNew = !isComplete(realDataDir);
    if (isNew && mustExist) throw unfinished(dataDir);
    assertEnoughMemory(isNew);
    const connection = addressOf(realDataDir);
    prepareCluster(realDataDir);
    prepareSocketDirectory(connection.host);
    const socket = socketPath(connection.host);
    // Left by a killed process: a running one would hold the lock.
    rmSync(socket, { force: true });
    const settings = { dataDir: realDataDir, socketPath: socket };
    // The thread that has made the database keeps 300 MB for as long as it lives.
    if (isNew) await (await startEngineThread(settings)).close();
    const engine = await startEngineThread(settings);
    const ended = engine.ended.finally(() => lock?.release());
    return {
      connection,
      onExit: (listener) => inBackground(ended.then((error) => error && listener(error))),
      close: async () => {
        await engine.close();
        await ended;
      },
    };
  } catch (error) {
    lock?.release();
    throw failureIn(dataDir, error);
  }
}

/** The address of an engine that another process may run on this directory; connecting shows whether one does. */
export function embeddedPostgresAddress(dataDir: string): PostgresAddress {
  const realDataDir = realPathOf(dataDir);
  const connection = addressOf(realDataDir);
  assertTrustedSocketDirectory(connection.host, ownerOf(realDataDir));
  return connection;
}

function assertOwnDatabase(realDataDir: string): void {
  const [user, owner] = [process.getuid?.(), ownerOf(realDataDir)];
  if (user !== undefined && owner !== undefined && owner !== user) throw new NotOwnDatabase(realDataDir, owner, user);
}

function unfinished(dataDir: string): UnusableDataDirectory {
  return new UnusableDataDirectory(
    `DATA_DIR is ${JSON.stringify(dataDir)}, where the first start of the embedded database was ended before it was ` +
      'complete: start the service there first.',
  );
}

function realPathOf(dataDir: string): string {
  try {
    return realpathSync(dataDir);
  } catch {
    return resolve(dataDir);
  }
}
