import type { LookupAddress } from 'node:dns';

import type { LogPosition } from './replicas/log-position.ts';
import type { ConnectionConfig } from './servers/connection-config.ts';
import type { SessionKind, SessionLimits } from './server-session.ts';
import type { Statement } from './statement.ts';

/** The purpose of a connection, apart from where it goes. */
export interface OpenOptions extends SessionLimits {
  /** For connecting and preparing the session together. */
  readonly connectTimeoutMillis: number;
  /** After which a connection whose response is pending is destroyed; undefined for never. */
  readonly responseTimeoutMillis?: number | undefined;
  readonly session: SessionKind;
  readonly isPipelined?: boolean;
  /** To a standby: how far it has replayed. */
  readonly replayed?: Statement<LogPosition> | undefined;
  /** Receives every statement except those that prepare the session. */
  readonly onStatement?: ((sql: string) => void) | undefined;
}

export interface ConnectionOptions extends OpenOptions {
  readonly config: ConnectionConfig;
  /** Of the host in `config`; undefined for the directory of a socket. */
  readonly address?: LookupAddress | undefined;
  /** See the getter; undefined if it always is. */
  readonly isCurrent?: (() => boolean) | undefined;
  /** Called when an open connection turns out to be read-only, maybe more than once. */
  readonly onReadOnly?: (() => void) | undefined;
  /** Called when the connection is destroyed because nothing came back. */
  readonly onTimeout?: (() => void) | undefined;
}
