import { connectionConfigOf, type ConnectionConfig, type DatabaseLocation } from './connection-config.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { ConnectionOptions } from './connection.ts';
import { PipelinedConnections } from './pipelined-connections.ts';

/**
 * Together they keep the promise that a lost database is reported within 5 seconds: waiting for a connection that is free, or opening one, and
 * then for a response.
 */
const waitMillis = 2_000;
/** The server ends a statement a little sooner than its connection is destroyed here: it would not notice that, and go on. */
const exclusiveTimeouts = { statementTimeoutMillis: 2_300, answerTimeoutMillis: 2_500 };
/** What shares a connection has to be short: those behind it wait as long, and are then sent once more. */
const pipelinedTimeouts = { statementTimeoutMillis: 1_500, answerTimeoutMillis: 2_000 };
/** A guest waits longer, for whatever the service is doing, but not for one that is paused. */
const guestTimeouts = { answerTimeoutMillis: 15_000 };
/** The embedded database never stalls by itself; a long statement there makes everybody wait. */
const embeddedWaitMillis = 10_000;
/** For migrations and commands, which may wait for a server that is about to start. */
const patientConnectMillis = 5_000;
const patientWaitMillis = 60_000;
const idleMillis = 30_000;

export interface ConnectionsOptions {
  readonly location: DatabaseLocation;
  /** The most connections at a time; the embedded database has one, whatever is given. */
  readonly poolSize: number;
  /** The embedded engine runs in another process, whose session must stay as it is: there is one for all connections. */
  readonly isGuest?: boolean | undefined;
  /** Receives every statement that is sent. */
  readonly onStatement?: ((sql: string) => void) | undefined;
  /** Called when a request has waited in vain for an exclusive connection. */
  readonly onRefusal?: (() => void) | undefined;
}

/** A part of the connections for prepared reads, unless there are too few: the embedded database has one, and transactions need it. */
export function createPipeline({
  location,
  poolSize,
  onStatement,
}: ConnectionsOptions): PipelinedConnections | undefined {
  const size = pipelinedOf(poolSize);
  if (typeof location !== 'string' || size === 0) return undefined;
  const config = connectionConfigOf(location);
  const connection = { config, session: 'server', onStatement, ...pipelinedTimeouts } as const;
  return new PipelinedConnections({
    size,
    connection: { ...connection, connectTimeoutMillis: servingConnectMillis(config) },
  });
}

/** So many of the pool's connections; four keep the server's processors busy. */
function pipelinedOf(poolSize: number): number {
  return Math.min(4, Math.floor(poolSize / 2));
}

/** A longer `connect_timeout` is for the start: afterwards a lost database has to be reported in time. */
function servingConnectMillis({ connectTimeoutMillis = waitMillis }: ConnectionConfig): number {
  return Math.min(connectTimeoutMillis, waitMillis);
}

/** The exclusive connections as the service has them. */
export function createPool({
  location,
  poolSize,
  isGuest = false,
  onStatement,
  onRefusal,
}: ConnectionsOptions): ConnectionPool {
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
    perSubject: Math.max(1, Math.floor(size / 2)),
    waitMillis: isEmbedded ? embeddedWaitMillis : waitMillis,
    idleMillis: isEmbedded ? undefined : idleMillis,
    onRefusal,
  });
}

/** One connection for migrations and commands, whose statements take as long as they take. */
export function patientConnection(location: DatabaseLocation): ConnectionOptions {
  const config = connectionConfigOf(location);
  return {
    config,
    session: typeof location === 'string' ? 'server' : 'embedded',
    connectTimeoutMillis: config.connectTimeoutMillis ?? patientConnectMillis,
  };
}

/** One exclusive connection, for as long as it takes. */
export function createPatientPool(location: DatabaseLocation): ConnectionPool {
  return new ConnectionPool({
    connection: patientConnection(location),
    size: 1,
    perSubject: 1,
    waitMillis: patientWaitMillis,
  });
}
