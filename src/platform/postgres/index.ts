export { type ConnectionConfig, type PostgresAddress, targetsOf } from './servers/connection-config.ts';
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
} from './connections.ts';
export {
  failureOf,
  isTransactionConflict,
  isDiskFull,
  isLoss,
  isOutdated,
  isReadOnly,
  recordFailure,
  throwIfLost,
} from './driver-errors.ts';
export { DatabaseUnavailable, ForeignKeyViolation, type UnavailableReason, UnreadableRow } from './failures.ts';
export { ConnectionLease, createTransactionSession, type FailureOf } from './lease.ts';
export { limitLockWait } from './lock-wait.ts';
export { rowsById } from './pipeline/look-ups.ts';
export type { ServerChange } from './servers/servers.ts';
export { createSharedInsertions, createSharedTransactions } from './shared-transactions.ts';
export {
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
  type StatementValues,
  type TransactionKind,
  unprepared,
} from './statement.ts';
