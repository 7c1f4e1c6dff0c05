import type { ClientConfig } from 'pg';

/** An address as node-postgres wants it; its host is the directory of a Unix socket. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** What a connection needs of its server: that transactions may write, or that it is no standby. */
export type TargetSession = 'read-write' | 'primary';

/** The settings of every connection. */
export type ConnectionConfig = ClientConfig & {
  /** The timeout to connect to an address. */
  readonly connectTimeoutMillis?: number | undefined;
  /** Of several hosts, `host` and `port` are the first. */
  readonly hosts?: readonly { readonly host: string | undefined; readonly port: number | undefined }[] | undefined;
  /** As libpq's `target_session_attrs`; undefined for any server. */
  readonly targetSession?: TargetSession | undefined;
  /** As libpq's `load_balance_hosts=random`. */
  readonly isBalanced?: boolean | undefined;
};
