import { setTimeout as wait } from 'node:timers/promises';

import type { SqlEntityManager } from '@mikro-orm/postgresql';

import { Callers } from '../../platform/callers/index.ts';
import { DomainError } from '../../domain/errors.ts';
import type { DatabaseLocation } from '../../settings/database-url.ts';
import { connectDatabase, type ConnectOptions, type Database } from '../database.ts';
import { addDemoKey, findDemoKey } from './demo-key.ts';
import { fillWithDemoStore } from './demo-store.ts';
import { FailedDatabase } from '../../settings/failed-database.ts';
import {
  type EmbeddedPostgres,
  embeddedPostgresAddress,
  EmbeddedPostgresInUse,
  NotOwnDatabase,
  startEmbeddedPostgres,
} from '../../platform/embedded/index.ts';
import { migrate, type MigrateOptions } from './migrate.ts';

export interface OpenDatabaseOptions extends Omit<ConnectOptions, 'location' | 'isGuest' | 'timeouts'> {
  /** Without one the embedded database in `dataDir` is started. */
  readonly url: string | undefined;
  readonly dataDir: string;
  /** The engine in `dataDir`, when it is starting already. */
  readonly embedded?: Promise<EmbeddedPostgres> | undefined;
  /** For commands: only a start of the service makes an embedded database. */
  readonly mustExist?: boolean | undefined;
  readonly withDemoStore: boolean;
  /** Receives a sentence for people when migrations have to wait. */
  readonly onWait?: ((reason: string) => void) | undefined;
  readonly onMigrated?: MigrateOptions['onMigrated'];
  readonly onNewer?: MigrateOptions['onNewer'];
}

export interface OpenDatabase extends Database {
  /** The secret of the demo store's key, while it has one. */
  readonly demoKey: string | undefined;
  /** Calls the listener when the embedded engine ends by itself: no request can succeed any more. */
  readonly onExit: (listener: (error: Error) => void) => void;
}

/** Throws FailedDatabase on a server. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenDatabase> {
  const {
    url,
    dataDir,
    embedded: starting,
    mustExist,
    withDemoStore,
    onWait,
    onMigrated,
    onNewer,
    ...connecting
  } = options;
  const embedded = url === undefined ? await (starting ?? startEmbeddedPostgres(dataDir, mustExist)) : undefined;
  let database: Database | undefined;
  const close = async (): Promise<void> => {
    await database?.close();
    await embedded?.close();
  };
  const location = (url ?? embedded?.connection) as DatabaseLocation;
  // Only the embedded database gets demo data.
  const hasDemo = withDemoStore && embedded !== undefined;
  const fill = async (em: SqlEntityManager): Promise<void> => {
    await fillWithDemoStore(em);
    await addDemoKey(em, dataDir);
  };
  try {
    await migrate({ location, fill: hasDemo ? fill : undefined, onWait, onMigrated, onNewer });
    database = await connectDatabase({ ...connecting, location });
    await readClock(database);
    return {
      ...database,
      demoKey: hasDemo ? await findDemoKey(database.keyRecords(new Callers().service('start')), dataDir) : undefined,
      onExit: (listener) => embedded?.onExit(listener),
      close,
    };
  } catch (error) {
    await close();
    throw url === undefined ? error : new FailedDatabase(url, error);
  }
}

/** Twice: the first time it also waits for a connection. */
async function readClock(database: Database): Promise<void> {
  const caller = new Callers().service('start');
  for (let times = 0; times < 2; times += 1) await database.readClock(caller);
}

/** The time that a service may take to start. */
const joinTimeoutMillis = 15_000;
const joinRetryMillis = 100;

/** Opens an embedded database through the socket of a running service, if there is one. */
export async function openOrJoinDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const deadline = performance.now() + joinTimeoutMillis;
  for (;;) {
    let refusal: unknown;
    try {
      return await openDatabase(options);
    } catch (error) {
      refusal = error;
    }
    if (!(refusal instanceof EmbeddedPostgresInUse || refusal instanceof NotOwnDatabase)) throw refusal;
    try {
      return await joinEmbedded(options.dataDir);
    } catch (error) {
      if (refusal instanceof NotOwnDatabase) throw refusal;
      // The process that holds the directory may be starting or closing.
      if (performance.now() > deadline) throw error;
      await wait(joinRetryMillis);
    }
  }
}

const servedByOlder =
  'A service of an older version runs on it: use the command of its own build, or replace it by this version first.';

async function joinEmbedded(dataDir: string): Promise<Database> {
  const location = embeddedPostgresAddress(dataDir);
  const database = await connectDatabase({ location, poolSize: 1, isGuest: true });
  try {
    await readClock(database);
    const findings = await database.checkReady(new Callers().service('command'));
    const { migrations } = findings;
    const reason = findings.database ?? (migrations && `${migrations} ${servedByOlder}`);
    if (reason !== undefined) throw new DomainError('UNAVAILABLE', reason);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
