import { connectionConfigOf, type ConnectionConfig, type DatabaseLocation } from './connection-config.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { ConnectionOptions } from './connection.ts';
import { PipelinedConnections } from './pipelined-connections.ts';
import { RecentSubjects } from './recent-subjects.ts';

/**
 * Together they guarantee that a lost database is reported within 5 seconds: the wait for a free connection, or for a new one, and
 * the wait for a response.
 */
const waitMillis = 2_000;
/** The server cancels a statement before its connection is destroyed here: it would not notice that, and continue. */
const exclusiveTimeouts = { statementTimeoutMillis: 2_300, responseTimeoutMillis: 2_500 };
/** Reads that share a connection must be short: those behind a slow one wait as long, and are then sent once more. */
const pipelinedTimeouts = { statementTimeoutMillis: 1_500, responseTimeoutMillis: 2_000 };
/** A command beside a running service waits longer, but not for one that is paused. */
const guestTimeouts = { responseTimeoutMillis: 15_000 };
/** The embedded database never stalls by itself; a long statement delays all others. */
const embeddedWaitMillis = 10_000;
/** For migrations and commands, which may wait for a server that is about to start. */
const maintenanceConnectMillis = 5_000;
const maintenanceWaitMillis = 60_000;
const idleMillis = 30_000;

export interface ConnectionsOptions {
  readonly location: DatabaseLocation;
  /** The maximum number of connections; the embedded database always has one. */
  readonly poolSize: number;
  /** The embedded engine runs in another process, whose session must stay as it is: there is one for all connections. */
  readonly isGuest?: boolean | undefined;
  /** Receives every statement that is sent. */
  readonly onStatement?: ((sql: string) => void) | undefined;
  /** Called when a request has timed out waiting for an exclusive connection. */
  readonly onRefusal?: (() => void) | undefined;
}

/** The connections of one process to one database. */
export interface Connections {
  readonly pool: ConnectionPool;
  readonly pipeline: PipelinedConnections | undefined;
}

export function createConnections(options: ConnectionsOptions): Connections {
  const recent = new RecentSubjects();
  return { pool: createPool(options, recent), pipeline: createPipeline(options, recent) };
}

/** A part of the connections for prepared reads, unless there are too few: the embedded database has one, and transactions need it. */
function createPipeline(
  { location, poolSize, onStatement }: ConnectionsOptions,
  recent: RecentSubjects,
): PipelinedConnections | undefined {
  const size = pipelinedOf(poolSize);
  if (typeof location !== 'string' || size === 0) return undefined;
  const config = connectionConfigOf(location);
  const connection = { config, session: 'server', onStatement, ...pipelinedTimeouts } as const;
  return new PipelinedConnections({
    size,
    recent,
    connection: { ...connection, connectTimeoutMillis: servingConnectMillis(config) },
  });
}

/** The share of the pool's connections; four keep the server's processors busy. */
function pipelinedOf(poolSize: number): number {
  return Math.min(4, Math.floor(poolSize / 2));
}

/** A longer `connect_timeout` applies to the start only: afterwards a lost database must be reported in time. */
function servingConnectMillis({ connectTimeoutMillis = waitMillis }: ConnectionConfig): number {
  return Math.min(connectTimeoutMillis, waitMillis);
}

/** The exclusive connections as the service has them. */
function createPool(
  { location, poolSize, isGuest = false, onStatement, onRefusal }: ConnectionsOptions,
  recent: RecentSubjects,
): ConnectionPool {
  const config = connectionConfigOf(location);
  const isEmbedded = typeof location !== 'string';
  const size = isEmbedded ? 1 : poolSize - pipelinedOf(poolSize);
  const timeouts = isGuest ? guestTimeouts : isEmbedded ? {} : exclusiveTimeouts;
  return new ConnectionPool({
    connection: {
      config,
      onStatement,
      session: isGuest ? 'guest' : isEmbedded ? 'embedded' : 'server',
      connectTimeoutMillis: servingConnectMillis(config),
      ...timeouts,
    },
    size,
    share: Math.max(1, Math.floor(size / 2)),
    recent,
    waitMillis: isEmbedded ? embeddedWaitMillis : waitMillis,
    idleMillis: isEmbedded ? undefined : idleMillis,
    onRefusal,
  });
}

/** One connection for migrations and commands, without a statement timeout. */
export function maintenanceConnection(location: DatabaseLocation): ConnectionOptions {
  const config = connectionConfigOf(location);
  return {
    config,
    session: typeof location === 'string' ? 'server' : 'embedded',
    connectTimeoutMillis: config.connectTimeoutMillis ?? maintenanceConnectMillis,
  };
}

/** One exclusive connection without a statement timeout. */
export function createMaintenancePool(location: DatabaseLocation): ConnectionPool {
  return new ConnectionPool({
    connection: maintenanceConnection(location),
    size: 1,
    share: 1,
    recent: new RecentSubjects(),
    waitMillis: maintenanceWaitMillis,
  });
}
