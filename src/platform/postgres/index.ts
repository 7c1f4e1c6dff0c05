export { type ConnectionConfig, type PostgresAddress, targetsOf } from './servers/connection-config.ts';
export { DamagedMessage } from './connection-failure.ts';
export type { ConnectionPool } from './connection-pool.ts';
export type { NoFreeConnection } from './connection-slots.ts';
export type { PgConnection } from './connection.ts';
export {
  type ConnectionsOptions,
  createConnections,
  createMaintenancePool,
  type DatabaseOptions,
  openMaintenance,
  openMaintenanceWhenWritable,
  type PgConnections,
  type ReplicasConfig,
} from './connections.ts';
export { failureOf, isDiskFull, isLoss, isReadOnly } from './driver-errors.ts';
export { DatabaseUnavailable, ForeignKeyError, type UnavailableReason, UnreadableRow } from './failures.ts';
export { ConnectionLease } from './lease.ts';
export { rowsById } from './pipeline/look-ups.ts';
export type { ServerChange } from './servers/servers.ts';
export { createSessions } from './sessions.ts';
export type { Transact } from './shared-transactions.ts';
export {
  commandOf,
  type LookUp,
  lookUpOf,
  objectStatement,
  type Parameter,
  type Query,
  readAlone,
  type Session,
  slow,
  type Statement,
  statementOf,
  unprepared,
} from './statement.ts';
