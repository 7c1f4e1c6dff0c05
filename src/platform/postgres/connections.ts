import { setTimeout as wait } from 'node:timers/promises';

import { Accounts } from '../callers/index.ts';
import { type ConnectionConfig, targetsOf } from './servers/connection-config.ts';
import { readOnlyState, type ConnectionFailure } from './connection-failure.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { PgConnection } from './connection.ts';
import type { OpenOptions } from './connection-options.ts';
import { PipelinedConnections } from './pipeline/pipelined-connections.ts';
import type { SessionKind } from './server-session.ts';
import { positionStatements } from './replicas/log-position.ts';
import { ReadIndex } from './replicas/read-index.ts';
import { Replica, type ReplicaConnections } from './replicas/replica.ts';
import { type ReplicaObserver, Replicas } from './replicas/replicas.ts';
import { Servers } from './servers/servers.ts';

/**
 * Together they guarantee that a lost database is reported within 5 seconds: the wait for a free connection, or for a
 * new one, and the wait for a response. Whatever a request waits for, one after another, it waits so long in all
 * (`Caller.waitedMillis`), for locks too (`lock-wait.ts`).
 */
const waitMillis = 2_000;
/** The server cancels a statement before its connection is destroyed here: it would not notice that, and continue. */
const exclusiveTimeouts: Timeouts = { waitMillis, statementTimeoutMillis: 2_300, responseTimeoutMillis: 2_500 };
/**
 * Reads that share a connection must be short: those behind a slow one wait as long, and are then sent once more. One
 * that a lock keeps waiting fails before others notice.
 */
const pipelinedTimeouts = { lockTimeoutMillis: 10, statementTimeoutMillis: 1_500, responseTimeoutMillis: 2_000 };
/** The embedded database never stalls by itself; a long statement delays all others. */
const embeddedTimeouts: Timeouts = { waitMillis: 10_000 };
/** A command beside a running service waits longer, but not for one that is paused. */
const guestTimeouts: Timeouts = { ...embeddedTimeouts, responseTimeoutMillis: 15_000 };
/** For migrations and commands, which may wait for a server that is about to start. */
const maintenanceConnectMillis = 5_000;
const maintenanceWaitMillis = 60_000;
/** A connection to a server that was idle for longer is closed. */
const idleMillis = 30_000;

interface Timeouts extends Pick<OpenOptions, 'statementTimeoutMillis' | 'responseTimeoutMillis'> {
  /** For a free connection. */
  readonly waitMillis: number;
}

export interface DatabaseOptions {
  readonly config: ConnectionConfig;
  readonly session: SessionKind;
}

export interface ConnectionsOptions extends DatabaseOptions {
  /** The accounts of the process; its own without them. */
  readonly accounts?: Accounts | undefined;
  /** The maximum number of connections; the embedded database always has one. */
  readonly poolSize: number;
  /** Receives every statement that is sent. */
  readonly onStatement?: ((sql: string) => void) | undefined;
  /** Called when a request has timed out waiting for an exclusive connection. */
  readonly onRefusal?: (() => void) | undefined;
  readonly replicas?: ReplicasConfig | undefined;
  /** Instead of those of exclusive connections to a server. */
  readonly timeouts?: Timeouts | undefined;
}

/** The standbys that may serve reads. */
export interface ReplicasConfig extends ReplicaObserver {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The table with the history of the primary: see `positionStatements`. */
  readonly table: string;
}

/** The connections of one process to one database. */
export interface PgConnections {
  readonly pool: ConnectionPool;
  readonly pipeline: PipelinedConnections | undefined;
  readonly servers: Servers;
  readonly accounts: Accounts;
  readonly replicas?: Replicas | undefined;
}

export function createConnections(options: ConnectionsOptions): PgConnections {
  const connections = connectTo(options);
  const { replicas } = options;
  return replicas === undefined
    ? connections
    : { ...connections, replicas: createReplicas(options, replicas, connections) };
}

/** To one server, or to that of several which takes writes; `replayed` is for a standby. */
function connectTo(
  options: Omit<ConnectionsOptions, 'replicas'>,
  replayed?: OpenOptions['replayed'],
): PgConnections & ReplicaConnections {
  const { config, session, accounts = new Accounts(), poolSize, onStatement, onRefusal } = options;
  const isServer = session === 'server';
  const timeouts = { server: options.timeouts ?? exclusiveTimeouts, embedded: embeddedTimeouts, guest: guestTimeouts };
  const { waitMillis: poolWaitMillis, ...statementTimeouts } = timeouts[session];
  const pipelined = isServer ? pipelinedOf(poolSize) : 0;
  const size = isServer ? poolSize - pipelined : 1;
  // A longer `connect_timeout` applies to the start only: afterwards a lost database must be reported in time.
  const connectTimeoutMillis = Math.min(config.connectTimeoutMillis ?? waitMillis, waitMillis);
  const connection = { session, onStatement, connectTimeoutMillis, replayed } as const;
  const servers = new Servers({ config, accounts, isServing: true });
  const shared = { servers, accounts, onRefusal };
  const exclusive = { ...connection, ...statementTimeouts };
  const pool = new ConnectionPool({
    ...shared,
    connection: exclusive,
    size,
    ofClient: Math.max(1, Math.floor(size / 2)),
    waitMillis: poolWaitMillis,
    idleMillis: isServer ? idleMillis : undefined,
  });
  const open = (signal: AbortSignal): Promise<PgConnection> => servers.open(exclusive, signal);
  if (pipelined === 0) return { servers, accounts, pool, open, pipeline: undefined };
  const pipeline = new PipelinedConnections({
    ...shared,
    connection: { ...connection, ...pipelinedTimeouts },
    size: pipelined,
    waitMillis,
  });
  return { servers, accounts, pool, open, pipeline };
}

function createReplicas(
  options: ConnectionsOptions,
  { hosts, table, ...observer }: ReplicasConfig,
  { accounts, open }: PgConnections & ReplicaConnections,
): Replicas {
  const statements = positionStatements(table);
  const replicas = targetsOf({ ...options.config, hosts }).map(({ name, host, port }) => {
    const config = { ...options.config, host, port, hosts: undefined, targetSession: 'standby' } as const;
    // What is refused there goes to the primary.
    const ofReplica = { ...options, accounts, config, onRefusal: undefined };
    return new Replica({ name, statements, connect: () => connectTo(ofReplica, statements.replayed) });
  });
  return new Replicas({ replicas, index: new ReadIndex(open, statements), ...observer });
}

/** The connections of the pool for short reads, unless there are too few; four keep the server's processors busy. */
function pipelinedOf(poolSize: number): number {
  return Math.min(4, Math.floor(poolSize / 2));
}

/** One exclusive connection for migrations and commands, to a server that takes writes, without a statement timeout. */
export function createMaintenancePool(options: DatabaseOptions, onStatement?: (sql: string) => void): ConnectionPool {
  const { connection, ...shared } = maintenance(options);
  return new ConnectionPool({
    ...shared,
    connection: { ...connection, onStatement },
    size: 1,
    ofClient: 1,
    waitMillis: maintenanceWaitMillis,
  });
}

/** The same connection without a pool. */
export function openMaintenance(database: DatabaseOptions): Promise<PgConnection> {
  const { servers, connection } = maintenance(database);
  return servers.open(connection, new AbortController().signal);
}

function maintenance({
  config,
  session,
}: DatabaseOptions): Pick<PgConnections, 'servers' | 'accounts'> & { readonly connection: OpenOptions } {
  const accounts = new Accounts();
  const targetSession = session === 'server' ? (config.targetSession ?? 'read-write') : undefined;
  return {
    accounts,
    servers: new Servers({ config: { ...config, targetSession }, accounts }),
    connection: {
      session,
      connectTimeoutMillis: config.connectTimeoutMillis ?? (config.hosts ? waitMillis : maintenanceConnectMillis),
    },
  };
}

/** A server that is starting, stopping or recovering. */
const notYet = '57P03';
/** Another address or password is needed. */
const neverCodes = /^(?:28|3D|42|ERR_|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED)/;
const writableRetryMillis = 500;

/**
 * Waits for a server that takes writes, and reports once why it isn't there: while the database fails over a start
 * waits, instead of ending in a loop. Throws ConnectionFailure when waiting doesn't help, or when the only host can't
 * be reached at all.
 */
export async function openMaintenanceWhenWritable(
  database: DatabaseOptions,
  onWait: (reason: string) => void,
): Promise<PgConnection> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await openMaintenance(database);
    } catch (error) {
      const { code, message } = error as ConnectionFailure;
      const isWorthWaiting =
        code === readOnlyState || code === notYet || (database.config.hosts !== undefined && !neverCodes.test(code));
      if (!isWorthWaiting) throw error;
      if (isFirst) onWait(message);
      await wait(writableRetryMillis * (0.5 + Math.random()));
    }
  }
}
